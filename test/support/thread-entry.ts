import { ConnectError } from '../../src/errors.ts';
import { countCollapsed } from '../../src/observe/row-counts.ts';
import { reportReady, enterThread } from '../../src/threads/inside-thread.ts';
import type { ControlFunctions, ThreadFunctions } from '../../src/threads/thread-protocol.ts';

/** Functions of a test's thread that the main thread calls. */
export interface TestThreadFunctions extends ThreadFunctions {
  count(connector: string, rows: number): void;
  say(text: string): void;
  hide(text: string): string;
  leave(code: number): void;
  fillHeap(): void;
}

const { calls, data } = enterThread<TestThreadFunctions, ControlFunctions>(({ logger, secrets }) => ({
  count: (connector, rows) => {
    countCollapsed({ connector }, rows);
  },
  say: (text) => {
    logger.warn(text);
  },
  hide: (text) => secrets.hide(text),
  leave: (code) => process.exit(code),
  fillHeap: () => {
    const held: unknown[] = [];
    for (;;) held.push({ held: [held.length] });
  },
}));
const { fails } = data.properties;
await reportReady(calls, fails === undefined ? Promise.resolve() : Promise.reject(new ConnectError(fails)));
