import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cachedJars } from '../../src/dev/kafka/jars.ts';
import { classPath, findJava } from '../../src/dev/kafka/java.ts';

const PROGRAM = fileURLToPath(new URL('java-peer/Peer.java', import.meta.url));
const END_MS = 20_000;

interface Waiting {
  readonly resolve: (answer: object) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Apache Kafka's own clients in one long-lived process, which executes commands (documented in java-peer/Peer.java).
 */
export class JavaPeer {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #errorLines: string[] = [];
  #nextId = 0;

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#settle(line);
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.#errorLines.push(line);
      if (this.#errorLines.length > 20) this.#errorLines.shift();
    });
    child.on('close', () => {
      const error = new Error(`The Java peer has ended: ${this.#errorLines.join('\n')}`);
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
  }

  /** Starts the process. If Java or the jars of Kafka are missing, resolves with the reason as a sentence. */
  static async start(bootstrapServers: string): Promise<JavaPeer | string> {
    const jars = cachedJars(process.env);
    if (jars === undefined) return 'the jars of Kafka are missing';
    const java = await findJava(process.env);
    if (java === undefined) return 'there is no Java 17 or later';
    const { stdout: modules } = await promisify(execFile)(java.program, ['--list-modules']);
    if (!modules.includes('jdk.compiler@')) return 'this Java has no compiler, which runs the program from its source';
    const jvm = ['-Xmx768m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', classPath(jars)];
    const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
    const child = spawn(java.program, [logging, ...jvm, PROGRAM, bootstrapServers], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return new JavaPeer(child);
  }

  async command<T extends object>(name: string, parameters: object): Promise<T> {
    if (this.#child.exitCode !== null) throw new Error(`The Java peer has ended: ${this.#errorLines.join('\n')}`);
    const id = this.#nextId++;
    const answer = new Promise<object>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#child.stdin.write(`${JSON.stringify({ id, do: name, ...parameters })}\n`);
    return (await answer) as T;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_MS);
    const closed = once(this.#child, 'close');
    this.#child.stdin.end();
    await closed;
    clearTimeout(timer);
  }

  #settle(line: string): void {
    const answer = JSON.parse(line) as { readonly id: number; readonly error?: string };
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(`The Java peer failed: ${answer.error}`));
  }
}
