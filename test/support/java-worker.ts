import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedJars, fetchJars, hasMaven, type JarSet } from '../../src/dev/kafka/jars.ts';
import { classPath, findJava } from '../../src/dev/kafka/java.ts';
import { propertiesText } from '../../src/dev/kafka/properties.ts';
import { freePort } from '../../src/dev/ports.ts';
import { ServiceProcess } from '../../src/dev/service-process.ts';
import { toError } from '../../src/errors.ts';
import { ConnectRest } from './rest.ts';

export interface JavaConnect {
  readonly program: string;
  readonly jars: string;
}

const CONNECT: JarSet = {
  title: 'Kafka Connect 4.3.1',
  name: 'connect-4.3.1',
  pom: fileURLToPath(new URL('java-connect/pom.xml', import.meta.url)),
  megabytes: 44,
};
/** Connect with Debezium's connector for PostgreSQL. */
export const DEBEZIUM: JarSet = {
  title: 'Kafka Connect 4.3.1 with Debezium 3.6.0',
  name: 'connect-4.3.1-debezium-3.6.0',
  pom: fileURLToPath(new URL('java-debezium/pom.xml', import.meta.url)),
  megabytes: 50,
};
const STOP_MS = 20_000;
const LOG4J = `rootLogger.level=warn
logger.connect.name=org.apache.kafka.connect.runtime.distributed
logger.connect.level=info
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{HH:mm:ss,SSS} %p %c{1} %m%n
rootLogger.appenderRef.out.ref=out
`;

/**
 * Returns Java and the jars of Connect, which Maven downloads once. If either is missing, returns the reason as a
 * sentence.
 */
export async function findJavaConnect(jarSet = CONNECT): Promise<JavaConnect | string> {
  const environment = process.env;
  const java = await findJava(environment);
  if (java === undefined) return 'there is no Java 17 or later';
  const cached = cachedJars(environment, jarSet);
  if (cached === undefined && !(await hasMaven(environment))) return 'there is no Maven (mvn)';
  try {
    const jars = cached ?? (await fetchJars(environment, undefined, jarSet));
    return { program: java.program, jars: classPath(jars) };
  } catch (error) {
    return toError(error).message;
  }
}

/**
 * Apache Kafka's own Connect worker in a process of its own, at one port for all of its runs.
 *
 * stopped --start--> running --(terminate, kill, exits on its own)--> stopped --discard--> gone
 */
export class JavaWorker {
  readonly rest: ConnectRest;
  readonly #java: JavaConnect;
  readonly #properties: Readonly<Record<string, string>>;
  readonly #folder: string;
  #process: ServiceProcess | undefined;

  private constructor(
    java: JavaConnect,
    properties: Readonly<Record<string, string>>,
    folder: string,
    listeners: string,
  ) {
    this.#java = java;
    // By default, the worker scans all jars for plugins, which takes a second longer.
    this.#properties = { 'plugin.discovery': 'service_load', ...properties, listeners };
    this.#folder = folder;
    this.rest = new ConnectRest(listeners);
  }

  /** Creates the worker without starting it. */
  static async create(java: JavaConnect, properties: Readonly<Record<string, string>>): Promise<JavaWorker> {
    const folder = await mkdtemp(join(tmpdir(), 'java-worker-'));
    return new JavaWorker(java, properties, folder, `http://127.0.0.1:${String(await freePort())}`);
  }

  /** The worker id, as it appears in statuses. */
  get workerId(): string {
    return this.rest.url.replace('http://', '');
  }

  /** Starts the worker. Resolves when its `/health` returns 200. */
  async start(): Promise<void> {
    const service = await this.launch();
    await service.untilReady(async () => {
      const answer = await this.rest.get('/health').catch(() => undefined);
      return answer?.status === 200;
    }, 60_000);
  }

  /** Starts the worker without waiting until it is ready. */
  async launch(): Promise<ServiceProcess> {
    const file = join(this.#folder, 'worker.properties');
    const log4j = join(this.#folder, 'log4j2.properties');
    await writeFile(file, propertiesText(this.#properties));
    await writeFile(log4j, LOG4J);
    // The C1 compiler is enough: a worker that lives for seconds does not benefit from the optimizing compiler.
    const jvm = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
    this.#process = await ServiceProcess.spawn({
      title: 'The Java worker',
      command: this.#java.program,
      args: [
        ...jvm,
        `-Dlog4j2.configurationFile=file:${log4j}`,
        '-cp',
        this.#java.jars,
        'org.apache.kafka.connect.cli.ConnectDistributed',
        file,
      ],
      logFile: this.#logFile,
      stopSignals: ['SIGTERM', 'SIGKILL'],
    });
    return this.#process;
  }

  /** Sends SIGTERM. Resolves when the process has ended. */
  async terminate(): Promise<void> {
    await this.#process?.stop(STOP_MS);
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Ends the worker in any state and removes its files. */
  async discard(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Returns everything that the worker has printed in all its runs. */
  async log(): Promise<string> {
    return readFile(this.#logFile, 'utf8').catch(() => '');
  }

  get #logFile(): string {
    return join(this.#folder, 'worker.log');
  }
}
