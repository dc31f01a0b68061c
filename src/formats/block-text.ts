import type { MessageBlock } from '../data/message-block.ts';

const HIGH_BITS = 0x80808080 | 0;

/**
 * The values of a block as places in one text, made at once: a text for each would cost more than reading it. Only values in
 * ASCII may be read there; what stands between values is the broker's.
 */
export class BlockText {
  text = '';
  #block: MessageBlock | undefined;
  #base = 0;
  #words: Int32Array = new Int32Array(0);

  /** To be called before a block's values are read; asking again for the same block costs nothing. */
  open(block: MessageBlock): void {
    if (this.#block === block) return;
    const { bytes, count, valueStarts, valueEnds } = block;
    const start = valueStarts[0] ?? 0;
    const end = Math.max(start, valueStarts[count - 1] ?? 0, valueEnds[count - 1] ?? 0);
    this.#block = block;
    this.#base = start;
    this.text = bytes.toString('latin1', start, end);
    this.#words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >>> 2);
  }

  /** Forgets the block, which would be kept in memory else. */
  close(): void {
    this.#block = undefined;
    this.text = '';
  }

  start(index: number): number {
    return this.#block!.valueStarts[index]! - this.#base;
  }

  /** Before `start` where there is no value. */
  end(index: number): number {
    return this.#block!.valueEnds[index]! - this.#base;
  }

  isAscii(index: number): boolean {
    const { bytes, valueStarts, valueEnds } = this.#block!;
    const words = this.#words;
    const end = valueEnds[index]!;
    let at = valueStarts[index]!;
    // Word by word where the buffer's memory is aligned, byte by byte before and behind.
    const shift = bytes.byteOffset;
    for (; at < end && ((at + shift) & 3) !== 0; at++) if (bytes[at]! >= 0x80) return false;
    let word = (at + shift) >>> 2;
    for (; at + 4 <= end; at += 4) if ((words[word++]! & HIGH_BITS) !== 0) return false;
    for (; at < end; at++) if (bytes[at]! >= 0x80) return false;
    return true;
  }
}
