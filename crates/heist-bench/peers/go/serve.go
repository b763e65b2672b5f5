// A server on the Go runtime; its clients are another process.
//
// Usage: serve WORKERS echo:SIZE|once|http
//
// echo sends back what comes, through a buffer of SIZE bytes; once sends back one byte and closes
// the connection; http says hello. Prints the port on 127.0.0.1 where it listens, and ends when
// its standard input does.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	workers, serve, err := arguments(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(workers)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	go func() { fail(serve(listener)) }()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func arguments(args []string) (int, func(net.Listener) error, error) {
	if len(args) == 2 {
		workers, bad := strconv.Atoi(args[0])
		serve := service(args[1])
		if bad == nil && workers > 0 && serve != nil {
			return workers, serve, nil
		}
	}
	return 0, nil, fmt.Errorf("usage: serve WORKERS echo:SIZE|once|http, not %q", args)
}

// service returns nil if there is none of that name.
func service(name string) func(net.Listener) error {
	const prefix = "echo:"
	switch {
	case name == "once":
		return each(once)
	case name == "http":
		return hello
	case strings.HasPrefix(name, prefix):
		size, bad := strconv.Atoi(name[len(prefix):])
		if bad == nil && size > 0 {
			return each(func(connection net.Conn) { echo(connection, size) })
		}
	}
	return nil
}

// each has a goroutine a connection. Go sets TCP_NODELAY by itself.
func each(handle func(net.Conn)) func(net.Listener) error {
	return func(listener net.Listener) error {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return err
			}
			go func() {
				defer connection.Close()
				handle(connection)
			}()
		}
	}
}

// echo ends with the connection: the clients know whether anything is missing.
func echo(connection net.Conn, size int) {
	buffer := make([]byte, size)
	for {
		count, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err := connection.Write(buffer[:count]); err != nil {
			return
		}
	}
}

func once(connection net.Conn) {
	buffer := make([]byte, 1)
	if _, err := io.ReadFull(connection, buffer); err == nil {
		connection.Write(buffer)
	}
}

func hello(listener net.Listener) error {
	return http.Serve(listener, http.HandlerFunc(
		func(writer http.ResponseWriter, _ *http.Request) {
			// The other sides have none, and guess no type from what is sent.
			writer.Header()["Content-Type"] = nil
			io.WriteString(writer, "Hello, World!")
		}))
}
