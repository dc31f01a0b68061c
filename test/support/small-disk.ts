import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, open, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toError } from '../../src/errors.ts';

const run = promisify(execFile);
const SIZE = '96m';
const BLOCK = Buffer.alloc(8192);

/** An in-memory file system of 96 MB that a test can fill up. */
export class SmallDisk {
  /** A folder with the same owner as `dataDir`. */
  readonly folder: string;
  readonly #mount: string;

  private constructor(mount: string) {
    this.#mount = mount;
    this.folder = join(mount, 'data');
  }

  /** Mounts the file system. If that is impossible, resolves with the reason as a sentence. */
  static async mount(dataDir: string): Promise<SmallDisk | string> {
    const mount = await mkdtemp(join(tmpdir(), 'sluice-disk-'));
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0755`, 'tmpfs', mount]);
    } catch (error) {
      await rmdir(mount);
      return `skipped: a small disk cannot be mounted here (${toError(error).message.trim()})`;
    }
    const disk = new SmallDisk(mount);
    const { uid, gid } = await stat(dataDir);
    await mkdir(disk.folder, { mode: 0o700 });
    await chown(disk.folder, uid, gid);
    return disk;
  }

  /** Fills the file system until no block is free. */
  async fill(): Promise<void> {
    const file = await open(this.#ballast, 'w');
    try {
      for (;;) await file.write(BLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      await file.close();
    }
  }

  async free(): Promise<void> {
    await rm(this.#ballast, { force: true });
  }

  async unmount(): Promise<void> {
    await run('umount', [this.#mount]);
    await rmdir(this.#mount);
  }

  get #ballast(): string {
    return join(this.#mount, 'ballast');
  }
}
