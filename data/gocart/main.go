// SPDX-License-Identifier: GPL-3.0-or-later

// Gocart keeps the carts of a shop that never closes a session, and writes a heap dump of itself.
//
//	gocart >FILE
//
// What is wrong with it, to be found in the dump: sessions stay for ever (a map that nothing takes from),
// goroutines that wait for an answer nobody sends, one slow receipt that keeps a whole page of text.
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

type Status uint8

const (
	Open Status = iota
	Paid
	Sent
)

// Price is in cents.
type Price int64

type Size struct{ Width, Height, Depth int32 }

type Item struct {
	SKU   string
	Title string
	Price Price
	Size
	Tags  []string
	Stock *int64 // in the middle of a Warehouse
}

type Warehouse struct {
	Name  string
	Count [16]int64
	Boss  *Customer
}

type Customer struct {
	ID    uint32
	Name  string
	Email string
	Since int64
	Phone [2]string
}

type Line struct {
	Item  *Item
	Count int
}

type Session struct {
	ID       uint64
	Customer *Customer
	Cart     []Line
	Notes    map[string]string
	Extra    interface{}
	Status   Status
	Discount float32
	Previous *Session
}

type Notifier interface{ Notify(text string) bool }

type Mail struct {
	To    string
	Tries int
}

type Pager struct{ Number string }

func (m *Mail) Notify(text string) bool { m.Tries++; return text != "" }
func (p Pager) Notify(text string) bool { return p.Number != "" }

type Connection struct {
	Peer   string
	Buffer []byte
	Closed bool
}

type Pair[K comparable, V any] struct {
	Key K
	Val V
}

// Package variables: what keeps everything.
var (
	sessions  map[string]*Session // the leak
	last      *Session
	catalogue []*Item
	stores    [3]*Warehouse
	orders    chan *Session
	notify    []Notifier
	onClose   []func() int
	settings  = map[string]interface{}{}
	byPrice   map[Price]*Item
	visits    map[int]int
	hot       *int64
	receipt   string // 20 bytes of a long text
	window    []int64
	best      *Pair[string, int]
	kept      []*Connection
	guard     sync.Mutex
)

func stock() {
	boss := &Customer{ID: 1, Name: "Ada Quill", Email: "ada@example.org", Since: 1600000000}
	for i := range stores {
		stores[i] = &Warehouse{Name: "store " + strconv.Itoa(i), Boss: boss}
	}
	byPrice = map[Price]*Item{}
	titles := []string{"kettle", "lamp", "teapot", "caf\u00e9 cup", "\u8336 tin", "quilt"}
	for i := 0; i < 60; i++ {
		store := stores[i%3]
		store.Count[i%16] += int64(i)
		item := &Item{SKU: "SKU-" + strconv.Itoa(10000+i), Title: titles[i%6] + " no. " + strconv.Itoa(i),
			Price: Price(199 + 50*i), Size: Size{int32(i), 20, 30}, Stock: &store.Count[i%16]}
		item.Tags = append(item.Tags, strings.Clone("in stock"), "shop")
		catalogue = append(catalogue, item)
		byPrice[item.Price] = item
	}
	hot = &stores[1].Count[4]
}

func visit(n int) {
	key := "session-" + strconv.Itoa(n)
	s := &Session{ID: uint64(n) + 1<<40, Previous: last, Status: Status(n % 3), Discount: float32(n) / 8}
	s.Customer = &Customer{ID: uint32(n), Name: "customer " + strconv.Itoa(n), Since: 1700000000 + int64(n)}
	s.Customer.Email = "c" + strconv.Itoa(n) + "@example.org"
	s.Customer.Phone[1] = strings.Clone("+49 30 555 0100")
	for k := 0; k < n%4; k++ {
		s.Cart = append(s.Cart, Line{catalogue[(n*7+k)%len(catalogue)], k + 1})
	}
	if n%10 == 0 {
		s.Notes = map[string]string{"gift": "wrap it, please (" + key + ")"}
	}
	switch n % 5 {
	case 0:
		s.Extra = n + 1000
	case 1:
		s.Extra = "coupon " + strconv.Itoa(n)
	case 2:
		s.Extra = s.Customer
	case 3:
		s.Extra = Size{int32(n), 2, 3}
	}
	sessions[key] = s
	last = s
	visits[n%50]++
}

//go:noinline
func use(s *Session) uint64 { return s.ID }

// waitForAnswer never gets one.
func waitForAnswer(answer chan int, s *Session) {
	<-answer
	use(s)
}

func waitForGuard(s *Session) {
	guard.Lock()
	use(s)
}

func offer(to chan *Session, s *Session) {
	to <- s
	use(s)
}

func small() {
	notify = []Notifier{&Mail{To: "ada@example.org", Tries: 2}, Pager{"555 0199"}, nil}
	for i := 0; i < 4; i++ {
		s, n := sessions["session-"+strconv.Itoa(i)], i
		onClose = append(onClose, func() int { return int(s.ID) + n })
	}
	settings["name"] = "gocart"
	settings["retries"] = 3
	settings["ratio"] = 0.75
	settings["sizes"] = []int{1, 2, 3}
	settings["owner"] = stores[0].Boss
	settings["none"] = nil
	page := strings.Repeat("a line of a very long receipt\n", 400)
	receipt = page[6000:6029]
	all := make([]int64, 500)
	for i := range all {
		all[i] = int64(i) * 3
	}
	window = all[100:120:130]
	best = &Pair[string, int]{"kettle", 42}
	orders = make(chan *Session, 8)
	for i := 0; i < 5; i++ {
		orders <- sessions["session-"+strconv.Itoa(i*11)]
	}
	for i := 0; i < 3; i++ {
		c := &Connection{Peer: "10.0.0." + strconv.Itoa(i), Buffer: make([]byte, 512)}
		runtime.SetFinalizer(c, func(c *Connection) { c.Closed = true })
		kept = append(kept, c)
	}
}

func main() {
	runtime.MemProfileRate = 1 // every allocation from here on is sampled
	sessions, visits = map[string]*Session{}, map[int]int{}
	stock()
	for i := 0; i < 100; i++ {
		visit(i)
	}
	small()
	answer, full := make(chan int), make(chan *Session)
	guard.Lock()
	for i := 0; i < 8; i++ {
		go waitForAnswer(answer, sessions["session-"+strconv.Itoa(i)])
	}
	for i := 0; i < 3; i++ {
		go offer(full, &Session{ID: uint64(9000 + i)})
	}
	go waitForGuard(last)
	time.Sleep(50 * time.Millisecond)
	runtime.GC()
	runtime.GC()
	debug.WriteHeapDump(os.Stdout.Fd())
	runtime.MemProfile(nil, false) // without a mention of it the linker leaves the sampling out
	runtime.KeepAlive(answer)
	runtime.KeepAlive(full)
}
