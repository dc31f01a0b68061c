import { createReadStream } from 'node:fs';
import { toError } from '../../errors.ts';

/** Secrets are smaller. The limit prevents a variable that names a device or a log file from exhausting the memory. */
const MAX_BYTES = 1024 * 1024;

/** Rejects if the file has more than 1 MiB. */
export async function readSmallFile(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`it has more than ${String(MAX_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The system's error code, or the message. */
export function reasonOf(thrown: unknown): string {
  const error = toError(thrown);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
