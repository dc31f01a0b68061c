import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is removed with all that is in it. */
interface TemporaryFolder {
  readonly path: string;
  /** Writes a file into the folder; resolves with its path. */
  file(name: string, text: string): Promise<string>;
}

/** To be called within a `describe`: a folder that exists from its first test to its last. */
export function temporaryFolder(name: string): TemporaryFolder {
  return folderWithin(name, before, after);
}

/** To be called within a `describe`: each of its tests has another folder. */
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
