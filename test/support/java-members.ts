import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cachedJars } from '../../src/dev/kafka/jars.ts';
import { classPath, findJava } from '../../src/dev/kafka/java.ts';

const PROGRAM = fileURLToPath(new URL('java-consumer/Members.java', import.meta.url));
const END_MS = 20_000;

/** Java consumers that are members of several groups in one process. Each group is named after its topic. */
export class JavaMembers {
  readonly #child: ChildProcess;
  readonly #values = new Map<string, string[]>();
  readonly #counts = new Map<string, number>();
  readonly #errors: string[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error('The members have no output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#read(line);
    });
  }

  /**
   * Starts the consumers. If that is impossible, resolves with the reason as a sentence. `groups` contains settings by
   * topic.
   */
  static async start(
    bootstrapServers: string,
    groups: Readonly<Record<string, Readonly<Record<string, string>>>>,
  ): Promise<JavaMembers | string> {
    const jars = cachedJars(process.env);
    if (jars === undefined) return 'the jars of Kafka are not there';
    const java = await findJava(process.env);
    if (java === undefined) return 'there is no Java 17 or later';
    const { stdout: modules } = await promisify(execFile)(java.program, ['--list-modules']);
    if (!modules.includes('jdk.compiler@')) return 'this Java has no compiler, which runs the program from its source';
    const members = Object.entries(groups).map(([topic, settings]) => {
      const all = { 'bootstrap.servers': bootstrapServers, ...settings };
      return [topic, ...Object.entries(all).map(([name, value]) => `${name}=${value}`)].join(';');
    });
    const jvm = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', classPath(jars)];
    const child = spawn(java.program, [...jvm, PROGRAM, ...members], { stdio: ['pipe', 'pipe', 'ignore'] });
    return new JavaMembers(child);
  }

  /** Returns the values of the records that were read from a topic. */
  values(topic: string): readonly string[] {
    return this.#values.get(topic) ?? [];
  }

  /** Returns the number of partitions of the group's member. */
  partitions(topic: string): number {
    return this.#counts.get(topic) ?? 0;
  }

  get errors(): readonly string[] {
    return this.#errors;
  }

  /** Ends the consumers, which leave their groups. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_MS);
    const closed = once(this.#child, 'close');
    this.#child.stdin?.end();
    await closed;
    clearTimeout(timer);
  }

  #read(line: string): void {
    const [kind = '', topic = '', ...rest] = line.split(' ');
    if (kind === 'A') this.#counts.set(topic, Number(rest[0]));
    else if (kind === 'E') this.#errors.push(line);
    else if (kind === 'R') this.#values.set(topic, [...(this.#values.get(topic) ?? []), rest.join(' ')]);
  }
}
