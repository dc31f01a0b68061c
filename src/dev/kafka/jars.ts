import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConnectError, toError } from '../../errors.ts';
import { packageRoot } from '../package-root.ts';
import { MavenDownload, type OnProgress } from '../progress.ts';
import { CommandError, runWithOutput } from '../run-with-output.ts';

/** The version of Kafka, which must be the same as in the pom.xml next to this file. */
export const kafkaVersion = '4.3.1';

/** Jars that Maven downloads together. */
export interface JarSet {
  /** Name in error messages. */
  readonly title: string;
  /** Name of the folder in the cache. It must be changed whenever the versions change. */
  readonly name: string;
  /** Path of the pom.xml that has the jars as dependencies. */
  readonly pom: string;
  /** Size of the download with an empty Maven repository, including Maven's own plugins. */
  readonly megabytes: number;
}

const broker: JarSet = {
  title: `Kafka ${kafkaVersion}`,
  name: `kafka-${kafkaVersion}`,
  pom: join(packageRoot(), 'src', 'dev', 'kafka', 'pom.xml'),
  megabytes: 64,
};

/** The folder of downloads that all checkouts share. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const cache = environment['XDG_CACHE_HOME'] ?? '';
  return join(cache === '' ? join(homedir(), '.cache') : cache, 'sluice');
}

/** The folder of the jars (by default those of the broker, 44 MB) if an earlier download was completed. */
export function cachedJars(environment: NodeJS.ProcessEnv, { name } = broker): string | undefined {
  const folder = join(cacheFolder(environment), name);
  return existsSync(folder) ? folder : undefined;
}

/**
 * Downloads the jars with Maven and returns their folder. The folder gets its name when it is complete, so that an
 * interrupted download is not mistaken for a complete one, and concurrent downloads succeed.
 */
export async function fetchJars(
  environment: NodeJS.ProcessEnv,
  signal?: AbortSignal,
  jars: JarSet = broker,
  onProgress?: OnProgress,
): Promise<string> {
  const cache = cacheFolder(environment);
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(join(cache, `${jars.name}.unfinished-`));
  const folder = join(cache, jars.name);
  try {
    await copyDependencies(jars, unfinished, { environment, signal, onProgress });
    await rename(unfinished, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

interface FetchOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: OnProgress | undefined;
}

/** Whether Maven can be called. */
export async function hasMaven(environment: NodeJS.ProcessEnv): Promise<boolean> {
  return promisify(execFile)('mvn', ['--version'], { env: environment }).then(
    () => true,
    () => false,
  );
}

async function copyDependencies(
  { title, pom, megabytes }: JarSet,
  folder: string,
  { environment, signal, onProgress }: FetchOptions,
): Promise<void> {
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, '-DincludeScope=runtime'];
  const download = new MavenDownload(title, megabytes);
  try {
    await runWithOutput(
      ['mvn', '--batch-mode', '-Dstyle.color=never', '--file', pom, ...goal],
      { environment, signal },
      (line) => {
        const progress = download.read(line);
        if (progress !== undefined) onProgress?.(progress, true);
      },
    );
  } catch (error) {
    signal?.throwIfAborted();
    const lines = error instanceof CommandError ? error.lines : [];
    const reason = lines.find((line) => line.includes('[ERROR]')) ?? toError(error).message;
    throw new ConnectError(`Maven could not fetch ${title}: ${reason.trim()}`, { cause: error });
  }
}
