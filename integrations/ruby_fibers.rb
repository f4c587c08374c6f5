# SPDX-License-Identifier: Apache-2.0
# Fibers in several threads, queues, a condition, a monitor and children forked beside threads. Prints what each part
# computes, which does not depend on who runs when.
require "digest/sha2"  # not when the first thread asks: that is a race of Ruby's own
require "monitor"
require "timeout"

def each_in_thread(count)
  Array.new(count) { |i| Thread.new { yield i } }.map(&:value)
end

# Fibers that hand numbers on, and take a lock of their thread's on the way.
def sums_of_fibers
  lock = Mutex.new
  all = 0
  each_in_thread(4) do |thread|
    fibers = Array.new(20) do |i|
      Fiber.new do |step|
        200.times do
          lock.synchronize { all += 1 }
          step = Fiber.yield(step * 3 + i)
        end
        step
      end
    end
    201.times.sum { |k| fibers.sum { |fiber| fiber.resume(k + thread) } }
  end.sum + all
end

def through_queues
  work, done = SizedQueue.new(8), Queue.new
  workers = Array.new(4) do
    Thread.new { while (text = work.pop) != :end do done << Digest::SHA256.digest(text) end }
  end
  400.times { |i| work << (i.to_s * 5000) }
  4.times { work << :end }
  workers.each(&:join)
  Array.new(400) { done.pop }.sort.then { |all| Digest::SHA256.hexdigest(all.join) }
end

def by_turns
  monitor = Monitor.new
  changed = monitor.new_cond
  turn, text = 0, +""
  each_in_thread(4) do |me|
    100.times do |round|
      monitor.synchronize do
        changed.wait_while { turn % 4 != me }
        text << me.to_s
        turn += 1
        changed.broadcast
      end
    end
  end
  Digest::SHA256.hexdigest(text)
end

def timed_out
  waits = Mutex.new
  waits.lock
  each_in_thread(4) do
    begin
      Timeout.timeout(0.05) { waits.lock }
      "got it"
    rescue Timeout::Error
      "late"
    end
  end.tally.inspect
end

def children
  stop = false
  busy = Array.new(2) { Thread.new { Digest::SHA256.digest("x" * 20_000) until stop } }
  statuses = Array.new(6) do |i|
    Process.wait2(fork { exit!(through_queues.hex % 100 == $expected % 100 ? i : 99) })[1].exitstatus
  end
  stop = true
  busy.each(&:join)
  statuses.inspect
end

puts "fibers #{sums_of_fibers}"
puts "queues #{text = through_queues}"
$expected = text.hex
puts "turns #{by_turns}"
puts "timed out #{timed_out}"
puts "children #{children}"
