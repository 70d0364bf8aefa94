// 50 requests at once through net/http, a connection each; with "serve PORT", a server.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

func serve(port string) {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		fmt.Fprintf(w, "hello from go to %s\n", host)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("0.0.0.0:"+port, nil))
	os.Exit(1)
}

func fetch(client *http.Client, url string, found *atomic.Int32) {
	answer, err := client.Get(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if strings.Contains(string(body), "hello") {
		found.Add(1)
	}
}

func main() {
	if os.Args[1] == "serve" {
		serve(os.Args[2])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var found atomic.Int32
	var all sync.WaitGroup
	for i := 0; i < 50; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			fetch(client, "http://"+os.Args[1]+":"+os.Args[2]+"/", &found)
		}()
	}
	all.Wait()
	fmt.Println(found.Load())
}
