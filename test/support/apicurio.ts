import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cachedJars, fetchJars, hasMaven, type JarSet } from '../../src/dev/kafka/jars.ts';
import { findJava } from '../../src/dev/kafka/java.ts';
import { freePort } from '../../src/dev/ports.ts';
import { ServiceProcess } from '../../src/dev/service-process.ts';
import { toError } from '../../src/errors.ts';

export interface ApicurioParts {
  readonly program: string;
  readonly archive: string;
}

const LOWEST_JAVA = 21;
const VERSION = '3.3.3';
const ARCHIVE: JarSet = {
  title: `Apicurio Registry ${VERSION}`,
  name: `apicurio-${VERSION}`,
  pom: fileURLToPath(new URL('apicurio/pom.xml', import.meta.url)),
  megabytes: 180,
};
const READY_MS = 120_000;

/**
 * Returns a recent enough Java and the registry, which Maven downloads once (159 MB). If either is missing, returns the
 * reason as a sentence.
 */
export async function findApicurio(environment = process.env): Promise<ApicurioParts | string> {
  const java = await findJava(environment, LOWEST_JAVA);
  if (java === undefined) return `there is no Java ${String(LOWEST_JAVA)} or later`;
  const cached = cachedJars(environment, ARCHIVE);
  if (cached === undefined && !(await hasMaven(environment))) return 'there is no Maven (mvn)';
  try {
    const folder = cached ?? (await fetchJars(environment, undefined, ARCHIVE));
    return { program: java.program, archive: join(folder, `apicurio-registry-app-${VERSION}-all.tar.gz`) };
  } catch (error) {
    return toError(error).message;
  }
}

/**
 * A schema registry in a process of its own that keeps its schemas in memory.
 *
 * running --discard--> gone
 */
export class Apicurio {
  /** URL of the interface that is compatible with Confluent's registry. */
  readonly url: string;
  readonly #process: ServiceProcess;
  readonly #folder: string;

  private constructor(url: string, process: ServiceProcess, folder: string) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
  }

  static async start({ program, archive }: ApicurioParts): Promise<Apicurio> {
    const folder = await mkdtemp(join(tmpdir(), 'apicurio-'));
    await promisify(execFile)('tar', ['-xzf', archive, '-C', folder]);
    const [port, managementPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${String(port)}/apis/ccompat/v7`;
    const listening = [
      '-Dquarkus.http.host=127.0.0.1',
      `-Dquarkus.http.port=${String(port)}`,
      '-Dquarkus.management.host=127.0.0.1',
      `-Dquarkus.management.port=${String(managementPort)}`,
    ];
    // The C1 compiler is enough for a process that runs for seconds.
    const jvm = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    const process = await ServiceProcess.spawn({
      title: 'Apicurio Registry',
      command: program,
      args: [...jvm, ...listening, '-jar', join(folder, 'quarkus-run.jar')],
      logFile: join(folder, 'apicurio.log'),
      stopSignals: ['SIGTERM', 'SIGKILL'],
    });
    await process.untilReady(() => answers(`${url}/subjects`), READY_MS);
    return new Apicurio(url, process, folder);
  }

  /** Ends the process and removes its files. */
  async discard(): Promise<void> {
    await this.#process.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
