// Connects while other goroutines keep every processor busy, so that the runtime pre-empts with
// SIGURG all the time. Each connection says a number of its own and must hear it again.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
)

func talk(address string, token uint32) error {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	said := binary.LittleEndian.AppendUint32(nil, token)
	if _, err := connection.Write(said); err != nil {
		return err
	}
	heard := make([]byte, 4)
	if _, err := io.ReadFull(connection, heard); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(heard) != token {
		return fmt.Errorf("connection %d heard %v", token, heard)
	}
	return connection.(*net.TCPConn).SetLinger(0)
}

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	runtime.GOMAXPROCS(4)
	var stop, sum = make(chan struct{}), make([]int, 4)
	for i := 0; i < 4; i++ {
		go func(i int) {
			for {
				select {
				case <-stop:
					return
				default:
					for j := 0; j < 1_000_000; j++ {
						sum[i] += j
					}
				}
			}
		}(i)
	}
	tokens := make(chan uint32)
	var clients sync.WaitGroup
	for i := 0; i < 4; i++ {
		clients.Add(1)
		go func() {
			defer clients.Done()
			for token := range tokens {
				if err := talk(os.Args[1], token); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		}()
	}
	for token := 0; token < count; token++ {
		tokens <- uint32(token)
	}
	close(tokens)
	clients.Wait()
	close(stop)
}
