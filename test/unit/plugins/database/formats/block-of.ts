import type { MessageBlock } from '../../../../../src/data/message-block.ts';

/** Messages as a fetched batch has them: with a count of headers and the next record's head between them. */
export function blockOf(messages: readonly (string | Uint8Array | null)[], between = Buffer.of(0, 0x9a, 1, 0, 0x30)) {
  const parts: Uint8Array[] = [];
  const valueStarts: number[] = [];
  const valueEnds: number[] = [];
  let at = 0;
  for (const message of messages) {
    parts.push(between);
    at += between.length;
    const bytes = message === null ? undefined : Buffer.from(message as string);
    valueStarts.push(at);
    valueEnds.push(bytes === undefined ? at - 1 : at + bytes.length);
    if (bytes !== undefined) parts.push(bytes);
    at += bytes?.length ?? 0;
  }
  const offsets = messages.map((_, index) => 100 + index);
  const block: MessageBlock = {
    topic: 'lines',
    partition: 2,
    bytes: Buffer.concat([...parts, between]),
    count: messages.length,
    offsets,
    timestamps: offsets,
    valueStarts,
    valueEnds,
  };
  return block;
}
