import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;

/** 50 connections at once through one NIO selector, registered before they are connected. */
public class NioClient {
  private static final int COUNT = 50;
  private static final byte[] REQUEST =
      "GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  public static void main(String[] args) throws Exception {
    InetSocketAddress server = new InetSocketAddress(args[0], Integer.parseInt(args[1]));
    Selector selector = Selector.open();
    for (int i = 0; i < COUNT; i++) {
      SocketChannel channel = SocketChannel.open();
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_CONNECT, new StringBuilder());
      channel.connect(server);
    }
    int open = COUNT;
    int found = 0;
    while (open > 0) {
      selector.select(10_000);
      Iterator<SelectionKey> ready = selector.selectedKeys().iterator();
      while (ready.hasNext()) {
        SelectionKey key = ready.next();
        ready.remove();
        if (!advance(key)) {
          continue;
        }
        open--;
        found += key.attachment().toString().contains("hello") ? 1 : 0;
      }
    }
    System.out.println(found);
  }

  /** True when the connection has come to its end. */
  private static boolean advance(SelectionKey key) throws Exception {
    SocketChannel channel = (SocketChannel) key.channel();
    if (key.isConnectable()) {
      channel.finishConnect();
      channel.write(ByteBuffer.wrap(REQUEST));
      key.interestOps(SelectionKey.OP_READ);
      return false;
    }
    ByteBuffer buffer = ByteBuffer.allocate(4096);
    int size = channel.read(buffer);
    if (size >= 0) {
      ((StringBuilder) key.attachment()).append(new String(buffer.array(), 0, size, "US-ASCII"));
      return false;
    }
    channel.close();
    return true;
  }
}
