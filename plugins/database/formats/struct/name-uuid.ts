import { createHash } from 'node:crypto';

/** Returns the UUID of a name, as java.util.UUID.nameUUIDFromBytes computes it from the UTF-8 of the name. */
export function nameUuid(name: string): string {
  const hash = createHash('md5').update(name).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x30;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
