// 50 connections at once through Node's net module; with "serve PORT", a server.
const net = require('net');
const [first, second] = process.argv.slice(2);

function serve(port) {
  const answer = 'HTTP/1.0 200 OK\r\n\r\nhello from node to ';
  net.createServer((socket) => {
    socket.once('data', () => socket.end(answer + socket.remoteAddress + '\n'));
    socket.on('error', () => {});
  }).listen(port, '0.0.0.0');
}

function fetch(host, port) {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = net.connect(port, host, () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('data', (data) => { text += data; });
    socket.on('error', reject);
    socket.on('close', () => resolve(text.includes('hello') ? 1 : 0));
  });
}

if (first === 'serve') {
  serve(Number(second));
} else {
  const all = Array.from({length: 50}, () => fetch(first, Number(second)));
  Promise.all(all).then((found) => console.log(found.reduce((a, b) => a + b)));
}
