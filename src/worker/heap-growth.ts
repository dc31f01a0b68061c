import { setFlagsFromString } from 'node:v8';

/**
 * By how much heap and array buffers of a thread grow from one full collection to the next one: V8's own choice is up to 300.
 * With 100 a worker has 40 to 100 MB less and uses as much CPU (test/bench/RESULTS.md).
 */
const PERCENT = 100;
const FLAG = '--heap-growing-percent';

/** For all threads of the process, those that run included. A value that node was started with stays. */
export function boundHeapGrowth(nodeFlags: readonly string[] = process.execArgv, setFlag = setFlagsFromString): void {
  if (nodeFlags.some((flag) => flag.replaceAll('_', '-').startsWith(FLAG))) return;
  setFlag(`${FLAG}=${String(PERCENT)}`);
}
