import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** `undefined`: there is no Chromium on this machine (`CHROMIUM` may name one). */
export function chromiumPath(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...PATHS].find((path) => path !== '' && existsSync(path));
}

export async function startBrowser(executablePath: string): Promise<Browser> {
  // Root may not use its sandbox.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}
