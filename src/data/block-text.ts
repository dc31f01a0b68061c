import type { MessageBlock } from './message-block.ts';

const HIGH_BITS = 0x80808080 | 0;
/**
 * Approximate size of a window in bytes. The values of a block are converted to text one window at a time: a string per
 * value would cost more than reading the value, and a string for a whole block of 1 MB would be a large object for the
 * garbage collector, which costs 0.6 µs per value of 350 bytes.
 */
const WINDOW_BYTES = 49_152;

/**
 * Exposes the values of a block as ranges of a string, from which only ASCII values may be read. The characters between
 * the values are other bytes of the broker's response.
 */
export class BlockText {
  text = '';
  /** Offset of the text in the block's bytes. */
  base = 0;
  #block: MessageBlock | undefined;
  /** The records whose values are in the text: the index of the first record, and the index after the last one. */
  #from = 0;
  #to = 0;
  #words: Int32Array = new Int32Array(0);

  /**
   * Loads the text around a record's value; must be called before the value is read. Costs nothing if the text is
   * already loaded.
   */
  open(block: MessageBlock, index: number): void {
    if (this.#block === block && index >= this.#from && index < this.#to) return;
    const { bytes, count, valueStarts, valueEnds } = block;
    if (this.#block !== block) this.#words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >>> 2);
    const base = valueStarts[index]!;
    let to = index + 1;
    while (to < count && valueEnds[to]! - base <= WINDOW_BYTES) to++;
    this.#block = block;
    this.base = base;
    this.#from = index;
    this.#to = to;
    this.text = bytes.toString('latin1', base, Math.max(base, valueEnds[to - 1]!));
  }

  /** Releases the block, which would otherwise stay in memory. */
  close(): void {
    this.#block = undefined;
    this.text = '';
  }

  start(index: number): number {
    return this.#block!.valueStarts[index]! - this.base;
  }

  /** Returns the end (exclusive) of the value. It is less than `start` if the record has no value. */
  end(index: number): number {
    return this.#block!.valueEnds[index]! - this.base;
  }

  /**
   * Returns true if the value is ASCII. The first `checked` bytes are skipped, because the caller knows that they are
   * ASCII.
   */
  isAscii(index: number, checked = 0): boolean {
    const { bytes, valueStarts, valueEnds } = this.#block!;
    const words = this.#words;
    const end = valueEnds[index]!;
    let at = valueStarts[index]! + checked;
    // Aligned words are checked as a whole, the bytes before and after them one by one.
    const shift = bytes.byteOffset;
    for (; at < end && ((at + shift) & 3) !== 0; at++) if (bytes[at]! >= 0x80) return false;
    let word = (at + shift) >>> 2;
    for (; at + 4 <= end; at += 4) if ((words[word++]! & HIGH_BITS) !== 0) return false;
    for (; at < end; at++) if (bytes[at]! >= 0x80) return false;
    return true;
  }
}
