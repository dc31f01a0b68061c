import { readFileSync } from 'node:fs';

/** The Connect version whose behaviour this worker has. Clients parse `major.minor` from it. */
export const CONNECT_VERSION = '4.3.1';

/** The commit that `GET /` returns. It is set when an image is built. */
export const commitId = process.env['SLUICE_COMMIT'] ?? 'unknown';

/** Returns Sluice's own version from package.json. Works both from `src` and from `dist/src`. */
export function packageVersion(): string {
  for (const candidate of ['../package.json', '../../package.json']) {
    try {
      const text = readFileSync(new URL(candidate, import.meta.url), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return '0.0.0';
}

export const SLUICE_VERSION = packageVersion();
