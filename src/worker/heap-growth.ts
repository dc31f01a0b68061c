import { setFlagsFromString } from 'node:v8';

/**
 * Growth of the heap and the array buffers of a thread between two full garbage collections, in per cent. V8's default is up to
 * 300. With 100 the peak memory of a worker is 40 to 100 MB lower (test/bench/RESULTS.md).
 */
const PERCENT = 100;
const FLAG = '--heap-growing-percent';

/**
 * Sets the growth for all threads of the process, including running ones. A value on the command line of node takes precedence.
 */
export function boundHeapGrowth(nodeFlags: readonly string[] = process.execArgv, setFlag = setFlagsFromString): void {
  if (nodeFlags.some((flag) => flag.replaceAll('_', '-').startsWith(FLAG))) return;
  setFlag(`${FLAG}=${String(PERCENT)}`);
}
