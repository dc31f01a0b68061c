import type { MessageBlock } from './message-block.ts';

const HIGH_BITS = 0x80808080 | 0;
/**
 * The values of a block become text in windows of about this many bytes: a text for each value would cost more than reading it,
 * and one for a whole block of 1 MB would be a large object to the collector (0.6 µs for a value of 350 bytes).
 */
const WINDOW_BYTES = 49_152;

/**
 * The values of a block as places in a text. Only values in ASCII may be read there; what stands between values is the
 * broker's.
 */
export class BlockText {
  text = '';
  /** Where the text begins in the block's bytes. */
  base = 0;
  #block: MessageBlock | undefined;
  /** The records whose values are in the text: index of the first one, and after the last one. */
  #from = 0;
  #to = 0;
  #words: Int32Array = new Int32Array(0);

  /** Must be called before a record's value is read. Costs nothing if the text is already loaded. */
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

  /** Releases the block, which would be kept in memory otherwise. */
  close(): void {
    this.#block = undefined;
    this.text = '';
  }

  start(index: number): number {
    return this.#block!.valueStarts[index]! - this.base;
  }

  /** Before `start` where there is no value. */
  end(index: number): number {
    return this.#block!.valueEnds[index]! - this.base;
  }

  /** Whether the value is, apart from its first `known` bytes, which need not be looked at. */
  isAscii(index: number, known = 0): boolean {
    const { bytes, valueStarts, valueEnds } = this.#block!;
    const words = this.#words;
    const end = valueEnds[index]!;
    let at = valueStarts[index]! + known;
    // Word by word where the buffer's memory is aligned, byte by byte before and after.
    const shift = bytes.byteOffset;
    for (; at < end && ((at + shift) & 3) !== 0; at++) if (bytes[at]! >= 0x80) return false;
    let word = (at + shift) >>> 2;
    for (; at + 4 <= end; at += 4) if ((words[word++]! & HIGH_BITS) !== 0) return false;
    for (; at < end; at++) if (bytes[at]! >= 0x80) return false;
    return true;
  }
}
