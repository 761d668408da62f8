// Measures the timers of Go's runtime with the workloads of the Java classes beside it (Load, StartStopBenchmark,
// ResetBenchmark, FireBenchmark, FrontierCase, MemoryCase, GoBenchCase), and prints its figures as the class Child does.
//
// A timer is armed by time.AfterFunc, so each callback runs in a goroutine of its own. Processor time is that of the
// process: the garbage collector counts everywhere.
package main

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	nearest  = 10 * time.Minute
	farthest = 60 * time.Minute
)

var settings = map[string]string{}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: timers CASE [KEY=VALUE]...")
		os.Exit(2)
	}
	for _, arg := range os.Args[2:] {
		keyAndValue := strings.SplitN(arg, "=", 2)
		if len(keyAndValue) < 2 {
			fmt.Fprintln(os.Stderr, "setting must be key=value, but is '"+arg+"'")
			os.Exit(2)
		}
		settings[keyAndValue[0]] = keyAndValue[1]
	}
	if text("threads", "1") != "1" {
		skip("one goroutine arms in Go and not " + text("threads", "1"))
	}
	if workers := number("workers", number("procs", 0)); workers > 0 {
		runtime.GOMAXPROCS(workers)
	}
	switch os.Args[1] {
	case "startstop":
		startStop()
	case "reset":
		reset()
	case "fire":
		fire()
	case "frontier":
		frontier()
	case "memory":
		memory()
	case "gobench":
		gobench()
	default:
		skip("there is no case " + os.Args[1] + " in Go")
	}
}

// ---- settings and figures ----

func text(key, otherwise string) string {
	if value, ok := settings[key]; ok {
		return value
	}
	return otherwise
}

func number(key string, otherwise int) int {
	value, ok := settings[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		fmt.Fprintln(os.Stderr, "setting must be a number, but is "+key+"="+value)
		os.Exit(2)
	}
	return n
}

func skip(reason string) {
	fmt.Println("skipped: " + reason)
	os.Exit(0)
}

type figure struct {
	name  string
	value float64
}

// report prints figures of a cell, or of a part of it, as "rate=100".
func report(part string, figures ...figure) {
	line := "figures:" + part + " -> "
	for _, f := range figures {
		line += " " + f.name + "=" + strconv.FormatFloat(f.value, 'g', -1, 64)
	}
	fmt.Println(line)
}

// ---- processor time, memory ----

// cpu returns the processor time of the process, in nanoseconds.
func cpu() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func median(values []float64) float64 {
	sort.Float64s(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// measure warms up and then takes the medians of some windows. What run does until its deadline are so many operations.
func measure(run func(until time.Time) int64) {
	var cpus, walls, bytes []float64
	windows := number("windows", 5)
	for i := -4; i < windows; i++ {
		length := time.Duration(number("windowMs", 250)) * time.Millisecond
		if i < 0 {
			length = time.Duration(number("warmMs", 250)) * time.Millisecond
		}
		bytesBefore, cpuBefore, began := allocated(), cpu(), time.Now()
		operations := float64(run(began.Add(length)))
		wall := time.Since(began)
		used := cpu() - cpuBefore
		if i >= 0 {
			cpus = append(cpus, float64(used)/operations)
			walls = append(walls, float64(wall)/operations)
			bytes = append(bytes, float64(allocated()-bytesBefore)/operations)
		}
	}
	report("", figure{"cpu_ns", median(cpus)}, figure{"wall_ns", median(walls)}, figure{"bytes", median(bytes)})
}

// stepping takes the clock once for some steps.
func stepping(step func()) func(time.Time) int64 {
	const steps = 256
	return func(until time.Time) int64 {
		operations := int64(0)
		for time.Until(until) > 0 {
			for i := 0; i < steps; i++ {
				step()
			}
			operations += steps
		}
		return operations
	}
}

// ---- what is done ----

// load has the numbers of the Java class Load.
type load struct {
	random uint64
}

func newLoad(seed uint64) *load {
	return &load{(seed+1)*0x9E3779B97F4A7C15 | 1}
}

func (l *load) next() uint64 {
	l.random ^= l.random << 13
	l.random ^= l.random >> 7
	l.random ^= l.random << 17
	return l.random
}

// below is even over [0, bound).
func (l *load) below(bound int) int {
	return int((l.next() >> 32) * uint64(bound) >> 32)
}

func (l *load) far() time.Duration {
	return nearest + time.Duration((l.next()>>1)%uint64(farthest-nearest))
}

func nothing() {}

func fill(count int, seed uint64) {
	l := newLoad(seed)
	for i := 0; i < count; i++ {
		time.AfterFunc(l.far(), nothing)
	}
}

func startStop() {
	fill(number("pending", 0), 0)
	l := newLoad(0)
	lengths := []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second, 60 * time.Second,
		120 * time.Second}
	delay := func() time.Duration { return 30 * time.Second }
	switch text("delays", "ONE") {
	case "FEW":
		delay = func() time.Duration { return lengths[l.below(len(lengths))] }
	case "RANDOM":
		delay = l.far
	}
	ring := make([]*time.Timer, number("inFlight", 0))
	for i := range ring {
		ring[i] = time.AfterFunc(delay(), nothing)
	}
	place := 0
	measure(stepping(func() {
		t := time.AfterFunc(delay(), nothing)
		if len(ring) > 0 {
			t, ring[place] = ring[place], t
			place++
			if place == len(ring) {
				place = 0
			}
		}
		t.Stop()
	}))
}

func reset() {
	const earlier = 20 * time.Microsecond
	direction := text("direction", "LATER")
	l := newLoad(0)
	last := farthest
	delay := func() time.Duration {
		switch direction {
		case "RANDOM":
			return l.far()
		case "EARLIER":
			last -= earlier
			if last < nearest {
				last = farthest // now and then one round of later ones
			}
		}
		return last
	}
	timers := make([]*time.Timer, number("timers", 100000))
	for i := range timers {
		first := farthest
		if direction != "EARLIER" {
			first = l.far()
		}
		timers[i] = time.AfterFunc(first, nothing)
	}
	measure(stepping(func() {
		timers[l.below(len(timers))].Reset(delay())
	}))
}

func fire() {
	const batch = 64
	byReset := text("byReset", "false") == "true"
	var fired int64
	for i := 0; i < number("timers", 10000); i++ {
		l := newLoad(uint64(i))
		count := i % batch // they do not add all at once
		var timer *time.Timer
		var run func()
		step := func() {
			delay := time.Duration(l.next() >> 43) // even over [0, 2.1 ms)
			if byReset {
				timer.Reset(delay)
			} else {
				time.AfterFunc(delay, run)
			}
		}
		run = func() {
			count++
			if count%batch == 0 {
				atomic.AddInt64(&fired, batch)
			}
			step()
		}
		if byReset {
			timer = time.AfterFunc(time.Hour, run)
		}
		step()
	}
	measure(func(until time.Time) int64 {
		before := atomic.LoadInt64(&fired)
		for {
			time.Sleep(time.Until(until))
			if n := atomic.LoadInt64(&fired) - before; n > 0 {
				return n
			}
			until = time.Now().Add(time.Millisecond)
		}
	})
}

// shots arms timers for random instants that are fixed beforehand, and returns how late each of them was. The times
// are those of the processor before the arming and after it.
func shots(rate, count int) (lateness []int64, before, armed int64) {
	span := int64(count) * int64(time.Second) / int64(rate)
	for lead := 100*time.Millisecond + time.Duration(count)*2*time.Microsecond; ; lead *= 2 {
		random := rand.New(rand.NewSource(int64(rate)))
		lateness = make([]int64, count)
		deadlines := make([]time.Time, count)
		callbacks := make([]func(), count)
		var left sync.WaitGroup
		left.Add(count)
		for i := range callbacks {
			i := i
			callbacks[i] = func() {
				lateness[i] = int64(time.Since(deadlines[i]))
				left.Done()
			}
		}
		before = cpu()
		from := time.Now().Add(lead)
		for i, callback := range callbacks {
			deadlines[i] = from.Add(time.Duration(random.Int63n(span)))
			time.AfterFunc(time.Until(deadlines[i]), callback)
		}
		inTime := time.Until(from) > 0
		armed = cpu()
		left.Wait()
		if inTime {
			return
		}
	}
}

func frontier() {
	if text("busy", "false") == "true" {
		skip("there are no burners in Go")
	}
	shots(20000, 50000)
	shots(200000, 100000)
	for _, r := range strings.Split(text("rates", "100,500,1000,3000,5000,10000,20000,50000,100000,200000,500000"), ",") {
		rate, err := strconv.Atoi(r)
		if err != nil {
			panic(err)
		}
		span := time.Duration(number("spanMs", 1000)) * time.Millisecond
		if least := time.Duration(number("firings", 2000)) * time.Second / time.Duration(rate); span < least {
			span = least
		}
		if most := time.Duration(number("mostMs", 20000)) * time.Millisecond; span > most {
			span = most
		}
		count := int(int64(span) * int64(rate) / int64(time.Second))
		runtime.GC() // of what the rate before has left behind
		lateness, before, armed := shots(rate, count)
		after := cpu()
		early := 0
		for i := range lateness {
			if lateness[i] < 0 {
				early++
				lateness[i] = 0
			}
		}
		sort.Slice(lateness, func(i, j int) bool { return lateness[i] < lateness[j] })
		quantile := func(share float64) float64 {
			return float64(lateness[int(math.Ceil(share*float64(count)))-1]) / 1e3
		}
		each := 1e3 * float64(count)
		report("rate="+r, figure{"p50_us", quantile(0.5)}, figure{"p90_us", quantile(0.9)},
			figure{"p99_us", quantile(0.99)}, figure{"p999_us", quantile(0.999)}, figure{"max_us", quantile(1)},
			figure{"cpu_us", float64(after-before) / each}, figure{"fire_us", float64(after-armed) / each},
			figure{"process_us", float64(after-before) / each}, figure{"early", float64(early)},
			figure{"firings", float64(count)})
	}
}

func memory() {
	const timers = 1000000
	used := func() float64 {
		var stats runtime.MemStats
		for i := 0; i < 3; i++ {
			runtime.GC()
		}
		runtime.ReadMemStats(&stats)
		return float64(stats.HeapAlloc)
	}
	fill(1, 0)
	before := used()
	fill(timers, 1)
	report("", figure{"bytes", (used() - before) / timers})
}

// ---- what Go measures its timers with, in our words ----

func gobench() {
	procs := number("procs", 1)
	switch text("op", "") {
	case "parallel":
		parallel(procs - 1)
		return
	case "staggered":
		staggered(procs*number("tickers", 1), time.Duration(number("workUs", 300))*time.Microsecond)
		return
	}
	some, ok := operations[text("op", "")]
	if !ok {
		skip("there is no operation " + text("op", "") + " in Go")
	}
	far := 1 << 15
	if _, ok := settings["contexts"]; ok {
		far = number("contexts", 0) / procs
	}
	var done int64
	for i := 0; i < procs; i++ {
		go func() {
			for j := 0; j < far; j++ {
				time.AfterFunc(time.Hour, nothing)
			}
			for {
				atomic.AddInt64(&done, some())
			}
		}()
	}
	measure(func(until time.Time) int64 {
		before := atomic.LoadInt64(&done)
		for {
			time.Sleep(time.Until(until))
			if n := atomic.LoadInt64(&done) - before; n > 0 {
				return n
			}
			until = time.Now().Add(time.Millisecond)
		}
	})
}

const thousand = 1000

var operations = map[string]func() int64{
	"afterfunc": func() int64 {
		left := thousand
		over := make(chan bool)
		var next func()
		next = func() {
			left--
			if left == 0 {
				over <- true
			} else {
				time.AfterFunc(0, next)
			}
		}
		time.AfterFunc(0, next)
		<-over
		return thousand
	},
	"after": func() int64 {
		for i := 0; i < thousand; i++ {
			<-time.After(1)
		}
		return thousand
	},
	"stop": func() int64 {
		for i := 0; i < thousand; i++ {
			time.NewTimer(time.Second).Stop()
		}
		return thousand
	},
	"simultaneous": func() int64 {
		var left sync.WaitGroup
		left.Add(thousand)
		for i := 0; i < thousand; i++ {
			time.AfterFunc(0, left.Done)
		}
		left.Wait()
		return thousand
	},
	"startstop": func() int64 { return armAndStop(thousand) },
	"context":   func() int64 { return withTimeout(10) },
	"reset": func() int64 {
		t := time.NewTimer(time.Hour)
		for i := 0; i < thousand; i++ {
			t.Reset(time.Hour)
		}
		t.Stop()
		return thousand
	},
	"sleep": func() int64 {
		var left sync.WaitGroup
		left.Add(thousand)
		for i := 0; i < thousand; i++ {
			go func() {
				time.Sleep(1)
				left.Done()
			}()
		}
		left.Wait()
		return thousand
	},
	"ticker": func() int64 {
		ticker := time.NewTicker(1)
		for i := 0; i < thousand; i++ {
			<-ticker.C
		}
		ticker.Stop()
		return thousand
	},
	"adjust10000": func() int64 {
		timers := make([]*time.Timer, 10000)
		for i := range timers {
			timers[i] = time.AfterFunc(time.Hour, nothing)
		}
		timers[len(timers)-1].Reset(1)
		time.Sleep(time.Microsecond)
		for _, t := range timers {
			t.Stop()
		}
		return int64(len(timers))
	},
}

func armAndStop(count int) int64 {
	timers := make([]*time.Timer, count)
	for i := range timers {
		timers[i] = time.AfterFunc(time.Hour, nothing)
	}
	for _, t := range timers {
		t.Stop()
	}
	return int64(count)
}

func withTimeout(count int) int64 {
	cancels := make([]context.CancelFunc, count)
	for i := range cancels {
		_, cancels[i] = context.WithTimeout(context.Background(), time.Hour)
	}
	for _, cancel := range cancels {
		cancel()
	}
	return int64(count)
}

func work(length time.Duration) {
	for began := time.Now(); time.Since(began) < length; {
	}
}

// late prints how late so many firings were, in nanoseconds.
func late(lateness []int64, more ...figure) {
	sort.Slice(lateness, func(i, j int) bool { return lateness[i] < lateness[j] })
	sum := 0.0
	for _, nanos := range lateness {
		sum += float64(nanos)
	}
	count := len(lateness)
	p99 := lateness[int(math.Ceil(0.99*float64(count)))-1]
	report("", append(more, figure{"late_us", sum / 1e3 / float64(count)}, figure{"late_p99_us", float64(p99) / 1e3},
		figure{"late_max_us", float64(lateness[count-1]) / 1e3})...)
}

func parallel(timers int) {
	const delay = time.Millisecond
	rounds := func(length time.Duration) (lateness []int64) {
		for end := time.Now().Add(length); time.Until(end) > 0; {
			var fired int32
			each := make([]int64, timers)
			for i := range each {
				i, due := i, time.Now().Add(delay)
				time.AfterFunc(delay, func() {
					each[i] = int64(time.Since(due))
					for atomic.AddInt32(&fired, 1); atomic.LoadInt32(&fired) < int32(timers); {
					}
				})
			}
			for atomic.LoadInt32(&fired) < int32(timers) {
			}
			lateness = append(lateness, each...)
			work(delay)
		}
		return
	}
	rounds(time.Duration(number("warmMs", 1000)) * time.Millisecond)
	late(rounds(time.Duration(number("windowMs", 1000)) * time.Millisecond))
}

func staggered(tickers int, length time.Duration) {
	const period = 3 * time.Millisecond
	var lock sync.Mutex
	var lateness []int64
	var lost int64
	for i := 0; i < tickers; i++ {
		go func() {
			first := time.Now().Add(period)
			last := int64(-1)
			for sent := range time.NewTicker(period).C {
				now := time.Now()
				tick := int64(sent.Sub(first) / period)
				due := first.Add(time.Duration(tick) * period)
				lock.Lock()
				lateness = append(lateness, int64(now.Sub(due)))
				lost += tick - last - 1 // a ticker keeps one tick that was not taken, and throws the others away
				last = tick
				lock.Unlock()
				work(length)
			}
		}()
		time.Sleep(period / time.Duration(tickers))
	}
	time.Sleep(time.Duration(number("warmMs", 1000)) * time.Millisecond)
	lock.Lock()
	lateness, lost = nil, 0
	lock.Unlock()
	time.Sleep(time.Duration(number("windowMs", 1000)) * time.Millisecond)
	lock.Lock()
	late(lateness, figure{"lost", float64(lost)})
}
