import { ConfigError } from '../../errors.ts';

/** By default, brokers accept messages of up to 1 MB. */
const MAX_LINE_BYTES = 1_000_000;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Yields the lines of a stream without their line ends, as many at a time as have arrived. Empty lines are left out. If
 * a line is longer than a message may be, yields the lines before it, and then throws a ConfigError with the number of
 * the line.
 */
export async function* arrivingLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Buffer[], void> {
  let number = 0;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const take = (end: Uint8Array): Buffer => {
    const line = Buffer.concat([...pending, end]);
    pending = [];
    pendingBytes = 0;
    return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
  };
  for await (const chunk of input) {
    const lines: Buffer[] = [];
    let begin = 0;
    let tooLong = false;
    while (!tooLong) {
      const end = chunk.indexOf(LINE_FEED, begin);
      tooLong = pendingBytes + (end < 0 ? chunk.length : end) - begin > MAX_LINE_BYTES;
      if (tooLong || end < 0) break;
      number += 1;
      const line = take(chunk.subarray(begin, end));
      if (line.length > 0) lines.push(line);
      begin = end + 1;
    }
    if (lines.length > 0) yield lines;
    if (tooLong)
      throw new ConfigError(`Line ${String(number + 1)} has more than 1 MB, the most that a message may have`);
    if (begin < chunk.length) {
      pending.push(chunk.subarray(begin));
      pendingBytes += chunk.length - begin;
    }
  }
  const last = take(new Uint8Array());
  if (last.length > 0) yield [last];
}
