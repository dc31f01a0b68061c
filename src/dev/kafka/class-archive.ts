import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toError } from '../../errors.ts';
import { freePort } from '../ports.ts';
import { ServiceProcess } from '../service-process.ts';
import { formatFolder, writeProperties } from './data-folder.ts';
import { jvmArguments, type Java } from './java.ts';
import { answersMetadata } from './probe.ts';

export interface ClassArchiveOptions {
  readonly java: Java;
  readonly classPath: string;
  readonly cacheFolder: string;
  readonly onProgress?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Removes the temporary folder in which the archive was made. Tests replace this function. */
  readonly remove?: ((folder: string) => Promise<void>) | undefined;
}

/**
 * Returns the file of a JVM class archive (JEP 350) for these jars and this build of Java. It is created once, in about
 * 6 s, by starting and stopping a broker. Returns `undefined` if this fails; brokers then start more slowly. Rejects if
 * the cache folder cannot be written.
 */
export async function classArchive(options: ClassArchiveOptions): Promise<string | undefined> {
  const { java, classPath, cacheFolder, onProgress, signal, remove = removeFolder } = options;
  const kind = createHash('sha256').update(`${java.version}\n${classPath}`).digest('hex').slice(0, 16);
  const archive = join(cacheFolder, `kafka-classes-${kind}.jsa`);
  if (existsSync(archive)) return archive;
  onProgress?.('preparing a class archive for quick Kafka starts');
  await mkdir(cacheFolder, { recursive: true });
  const folder = await mkdtemp(join(cacheFolder, 'kafka-classes.unfinished-'));
  try {
    const unfinished = join(folder, 'classes.jsa');
    await record(java.program, classPath, folder, unfinished, signal);
    if (!existsSync(unfinished)) throw new Error('the JVM did not write it in time');
    await rename(unfinished, archive);
    return archive;
  } catch (error) {
    signal?.throwIfAborted();
    onProgress?.(`no class archive: ${toError(error).message}`);
    return undefined;
  } finally {
    await remove(folder).catch((error: unknown) => {
      onProgress?.(`${folder} could not be removed: ${toError(error).message}`);
    });
  }
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function record(
  program: string,
  jars: string,
  folder: string,
  archive: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const port = await freePort();
  const place = {
    dataDir: join(folder, 'data'),
    listenHost: '127.0.0.1',
    port,
    controllerPort: await freePort(),
  };
  await formatFolder(program, jvmArguments(jars, []), place, signal);
  const broker = await ServiceProcess.spawn({
    title: 'Kafka',
    command: program,
    args: [...jvmArguments(jars, [`-XX:ArchiveClassesAtExit=${archive}`]), 'kafka.Kafka', await writeProperties(place)],
    cwd: folder,
    logFile: join(folder, 'kafka.log'),
    stopSignals: ['SIGTERM', 'SIGKILL'],
    whenOrphaned: ['rm', '-rf', '--', folder],
  });
  try {
    await broker.untilReady(() => answersMetadata(port), 60_000, signal);
    // The archive is written at exit, which takes 2 to 3 s.
    await broker.stop(30_000);
  } finally {
    await broker.kill();
  }
}
