import { RequestError } from '../../src/errors.ts';
import { enterThread } from '../../src/threads/inside-thread.ts';
import type { ReaderControlFunctions, ReaderThreadFunctions } from '../../src/threads/thread-protocol.ts';

export type FakeReading = 'number of the thread' | 'wait to be abandoned' | 'hang' | 'fill the heap' | 'refuse';

/** Runs in a thread. The text of a reading says what the thread does to itself. */
let abandoned: () => void = () => undefined;

const { calls, data } = enterThread<ReaderThreadFunctions<FakeReading>, ReaderControlFunctions>(() => ({
  read: async (reading): Promise<string> => {
    if (reading === 'refuse') throw new RequestError(404, 'There is no such message');
    if (reading === 'hang') for (;;);
    if (reading === 'fill the heap') fillHeap();
    if (reading === 'wait to be abandoned') await new Promise<void>((resolve) => (abandoned = resolve));
    return String(data.thread);
  },
  abandon: () => {
    abandoned();
  },
}));
calls.tell('ready');

function fillHeap(): never {
  const held: unknown[] = [];
  for (;;) held.push(new Array<number>(1_000_000).fill(held.length));
}
