//! What the help of `annulus demo` ends with.

/// The end of it.
pub(super) const EXAMPLES: &str = "\
EXAMPLES:
  annulus demo
      a million quotes of a random walk to four strategies: the throughput at full speed, then
      the latency in a calm ring
  annulus demo --lossless --output orders.csv
      and what they order: each run writes the same lines, in another order
  annulus demo --rate 100000 --messages 500000
      at that pace only, for five seconds
  annulus demo --input eurusd.csv --input usdjpy.csv --repeat 100 --strategies 3/9,12/26
      recorded quotes of two symbols, over and over, to two strategies of your own
  annulus demo --capacity 256
      a short ring: whoever is slow loses quotes, and the accounts still hold
  annulus demo --shared market --lossless
      each part a process of its own; `annulus top` shows their rings
  annulus demo --shared market --lossless --kill gateway
      one of them is killed in the middle: what is lost then, and that nothing else is
  annulus demo --json | jq '.tick_to_order_ns.p99'
      for programs
  annulus demo --subscribers 3 --describe
      which threads and rings that would be; --describe=dot | dot -Tsvg draws them";

/// What the long help has before that.
pub(super) const NOTES: &str = "\
FILES:
  Two forms of CSV are told apart by the first line:
    no header      lines of `YYYYMMDD HHMMSSmmm,bid,ask,volume`, in UTC
    with header    the line `timestamp,bid,ask`, then lines such as
                   `2013-01-01 22:00:00.295000+00:00,86.655,86.728`
  Prices are from 0.00000001 to 90000000000, volumes 0 or more. A byte order mark, CRLF,
  empty lines at the end and a last line without its line break are fine; all else is
  malformed.

EXIT CODES:
  0    everything was published, and the check passed
  1    the check failed
  2    the usage or the input is wrong, and nothing was published; or the output cannot be written;
       with --shared also: a name is taken, or a process has died
  130  stopped by Ctrl-C, and the check passed for what was published until then
  143  the same, stopped by SIGTERM; 129 by SIGHUP";
