import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is removed with its contents. */
interface TemporaryFolder {
  readonly path: string;
  /** Writes a file into the folder. Resolves with its path. */
  file(name: string, text: string): Promise<string>;
}

/**
 * Creates a folder before the first test of a `describe` and removes it after the last. Must be called within the
 * `describe`.
 */
export function temporaryFolder(name: string): TemporaryFolder {
  return folderWithin(name, before, after);
}

/** Creates a new folder for each test of a `describe`. Must be called within the `describe`. */
export function folderOfEachTest(name: string): TemporaryFolder {
  return folderWithin(name, beforeEach, afterEach);
}

type Hook = (run: () => Promise<void>) => void;

function folderWithin(name: string, begin: Hook, end: Hook): TemporaryFolder {
  let path = '';

  begin(async () => {
    path = await mkdtemp(join(tmpdir(), `sluice-${name}-`));
  });

  end(async () => {
    await rm(path, { recursive: true, force: true });
  });

  return {
    get path() {
      return path;
    },
    file: async (file, text) => {
      const whole = join(path, file);
      await writeFile(whole, text);
      return whole;
    },
  };
}
