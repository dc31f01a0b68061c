import type { ConnectorConfig } from '../connect/api.ts';
import type { OpenOffsets, SourceOffsets } from '../connect/source/offset-storage.ts';
import type { ThreadCalls } from './thread-calls.ts';
import type { TaskControlFunctions, TaskThreadFunctions } from './thread-protocol.ts';

type OffsetFunctions = Pick<
  TaskControlFunctions,
  'openOffsets' | 'readOffset' | 'writeOffsets' | 'listOffsets' | 'encodeOffsets' | 'offsetsCommitted' | 'closeOffsets'
>;

/**
 * Gives one worker thread access to the offsets of source connectors. `close`, which is called when the thread has ended, closes
 * the offsets that the thread left open.
 */
export class ThreadOffsets {
  readonly #offsets: SourceOffsets;
  readonly #open = new Map<number, OpenOffsets>();
  #lastHandle = 0;

  constructor(offsets: SourceOffsets) {
    this.#offsets = offsets;
  }

  readonly functions: OffsetFunctions = {
    openOffsets: async (connector, config) => {
      const opened = await this.#offsets.open(connector, config);
      const handle = ++this.#lastHandle;
      this.#open.set(handle, opened);
      return { handle, topic: opened.topic?.name };
    },
    readOffset: (handle, connector, partition) => this.#of(handle).storage.read(connector, partition),
    writeOffsets: (handle, connector, offsets) => this.#of(handle).storage.write(connector, offsets),
    listOffsets: (handle, connector) => this.#of(handle).storage.list(connector),
    encodeOffsets: async (handle, connector, offsets) =>
      (await this.#of(handle).topic?.encode(connector, offsets)) ?? [],
    offsetsCommitted: (handle, offsets) => this.#of(handle).committed(offsets),
    closeOffsets: async (handle) => {
      const opened = this.#open.get(handle);
      this.#open.delete(handle);
      await opened?.close();
    },
  };

  async close(): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map((opened) => opened.close()));
  }

  #of(handle: number): OpenOffsets {
    const opened = this.#open.get(handle);
    if (opened === undefined) throw new Error('These offsets have been closed');
    return opened;
  }
}

/** Gives a task thread access to the offsets that the main thread stores. */
export class RemoteOffsets implements SourceOffsets {
  readonly #calls: ThreadCalls<TaskThreadFunctions, TaskControlFunctions>;

  constructor(calls: ThreadCalls<TaskThreadFunctions, TaskControlFunctions>) {
    this.#calls = calls;
  }

  async open(connector: string, config: ConnectorConfig): Promise<OpenOffsets> {
    const calls = this.#calls;
    const { handle, topic } = await calls.call('openOffsets', connector, config);
    return {
      storage: {
        read: (name, partition) => calls.call('readOffset', handle, name, partition),
        write: (name, offsets) => calls.call('writeOffsets', handle, name, offsets),
        list: (name) => calls.call('listOffsets', handle, name),
      },
      topic:
        topic === undefined
          ? undefined
          : { name: topic, encode: (name, offsets) => calls.call('encodeOffsets', handle, name, offsets) },
      committed: (offsets) => calls.call('offsetsCommitted', handle, offsets),
      close: () => calls.call('closeOffsets', handle),
    };
  }
}
