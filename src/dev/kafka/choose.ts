import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConnectError, toError } from '../../errors.ts';
import { dockerLauncher, hasDocker } from './docker-launcher.ts';
import type { OnProgress } from '../progress.ts';
import { cachedJars, cacheFolder, fetchJars, hasMaven, kafkaVersion } from './jars.ts';
import { findJava } from './java.ts';
import { jvmLauncher } from './jvm-launcher.ts';
import type { Launcher } from './launcher.ts';

export interface ChooseOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Chooses the first way to run a broker that works on this machine: `KAFKA_HOME`, Java and Maven, Docker. Rejects with an error that
 * lists the options and why each of them failed.
 */
export async function chooseLauncher(options: ChooseOptions): Promise<Launcher> {
  const { environment, onProgress, signal } = options;
  const refusals: string[] = [];
  const java = await findJava(environment);
  const home = environment['KAFKA_HOME'] ?? '';
  const jvm = { ...options, cacheFolder: cacheFolder(environment) };

  if (home === '') refusals.push('KAFKA_HOME is not set');
  else if (java === undefined) refusals.push('KAFKA_HOME is set, but there is no Java 17 or later');
  else if (!existsSync(join(home, 'libs'))) refusals.push(`KAFKA_HOME=${home} has no folder libs`);
  else return jvmLauncher({ ...jvm, origin: 'kafka-home', java, jarFolder: join(home, 'libs') });

  if (java === undefined) refusals.push('there is no Java 17 or later on the path or in JAVA_HOME');
  else {
    try {
      const jarFolder = cachedJars(environment) ?? (await fetch(options));
      return await jvmLauncher({ ...jvm, origin: 'maven', java, jarFolder });
    } catch (error) {
      signal?.throwIfAborted();
      refusals.push(toError(error).message);
    }
  }

  if (await hasDocker(environment)) return dockerLauncher(environment, onProgress);
  refusals.push('no Docker engine answers');
  throw new ConnectError(
    'No Kafka is available. One of these is needed: ' +
      '(1) --bootstrap HOST:PORT or BOOTSTRAP_SERVERS, naming a running cluster; ' +
      '(2) KAFKA_HOME, naming an unpacked Kafka, and Java 17 or later; ' +
      '(3) Java 17 or later and Maven (mvn); (4) a running Docker engine. ' +
      `Tried here: ${refusals.join('; ')}.`,
  );
}

async function fetch({ environment, onProgress, signal }: ChooseOptions): Promise<string> {
  if (!(await hasMaven(environment))) throw new ConnectError('Java is installed, but Maven (mvn) is not on the path');
  onProgress?.(`fetching Kafka ${kafkaVersion} with Maven (at most 64 MB)`);
  return fetchJars(environment, signal, undefined, onProgress);
}
