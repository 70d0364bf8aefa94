"""50 connections at once through asyncio: non-blocking, watched by epoll before they are made."""

import asyncio
import sys


async def fetch(host, port):
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"GET / HTTP/1.0\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return b"hello" in answer


async def main(host, port):
    results = await asyncio.gather(*(fetch(host, port) for _ in range(50)))
    print(sum(results))


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
