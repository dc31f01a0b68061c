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

const JARS: JarSet = {
  title: 'Kafka Connect 4.3.1',
  name: 'connect-4.3.1',
  pom: fileURLToPath(new URL('java-connect/pom.xml', import.meta.url)),
  megabytes: 44,
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

/** Java and Connect's jars (24 MB, fetched with Maven once and kept); or why there are none, in a sentence. */
export async function findJavaConnect(environment = process.env): Promise<JavaConnect | string> {
  const java = await findJava(environment);
  if (java === undefined) return 'there is no Java 17 or later';
  const cached = cachedJars(environment, JARS);
  if (cached === undefined && !(await hasMaven(environment))) return 'there is no Maven (mvn)';
  try {
    const jars = cached ?? (await fetchJars(environment, undefined, JARS));
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
    // Looking through all jars for plugins takes a second more.
    this.#properties = { 'plugin.discovery': 'service_load', ...properties, listeners };
    this.#folder = folder;
    this.rest = new ConnectRest(listeners);
  }

  /** Does not start it. */
  static async create(java: JavaConnect, properties: Readonly<Record<string, string>>): Promise<JavaWorker> {
    const folder = await mkdtemp(join(tmpdir(), 'java-worker-'));
    return new JavaWorker(java, properties, folder, `http://127.0.0.1:${String(await freePort())}`);
  }

  /** As its statuses name it. */
  get workerId(): string {
    return this.rest.url.replace('http://', '');
  }

  /** Resolves when its `/health` answers 200. */
  async start(): Promise<void> {
    const service = await this.launch();
    await service.untilReady(async () => {
      const answer = await this.rest.get('/health').catch(() => undefined);
      return answer?.status === 200;
    }, 60_000);
  }

  /** Starts it and leaves it to itself. */
  async launch(): Promise<ServiceProcess> {
    const file = join(this.#folder, 'worker.properties');
    const log4j = join(this.#folder, 'log4j2.properties');
    await writeFile(file, propertiesText(this.#properties));
    await writeFile(log4j, LOG4J);
    // The first compiler alone: a worker that lives for seconds never earns what the second one costs.
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

  /** SIGTERM; resolves when it is gone. */
  async terminate(): Promise<void> {
    await this.#process?.stop(STOP_MS);
  }

  /** As `kill -9`. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Ends it, however it is, and removes its files. */
  async discard(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** All that it has printed, in all of its runs. */
  async log(): Promise<string> {
    return readFile(this.#logFile, 'utf8').catch(() => '');
  }

  get #logFile(): string {
    return join(this.#folder, 'worker.log');
  }
}
