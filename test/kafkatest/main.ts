import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { cachedJars, cacheFolder, fetchJars, type JarSet } from '../../src/dev/kafka/jars.ts';
import { classArchive } from '../../src/dev/kafka/class-archive.ts';
import { classPath, findJava, jvmArguments, type Java } from '../../src/dev/kafka/java.ts';
import { packageRoot } from '../../src/dev/package-root.ts';
import { runWithOutput } from '../../src/dev/run-with-output.ts';
import { toError } from '../../src/errors.ts';

const USAGE = `npm run test:kafkatest -- [--kafka FOLDER] [--parallel N] [--patience N] [--results FOLDER] [--parameters JSON] [--brief] [--list] [TEST …]
  TEST          file[::Class[.method]] below tests/kafkatest/tests of the checkout (connect)
  --kafka       checkout of apache/kafka; else the environment variable KAFKA_CHECKOUT names it
  --parallel    tests that run at the same time (2)
  --patience    multiplies the timeouts of the tests, for busy machines (1)
  --results     folder of logs and reports (.sluice/kafkatest)
  --parameters  parameters of the tests as JSON, in place of their matrix
  --brief       one variant of each test
  --list        lists the tests and does not run them
`;

/** The largest number of nodes that a test of Connect asks for. */
const NODES_OF_A_TEST = 7;
/** The version that the tests name in their setup.py; 3.12 and later have no `distutils`, which setuptools has. */
const PYTHON_PACKAGES = ['ducktape==0.12.0', 'psutil', 'setuptools<81'];
const FOLDER = dirname(fileURLToPath(import.meta.url));
const KAFKA: JarSet = {
  title: 'Kafka 4.3.1 and its tools',
  name: 'kafkatest-4.3.1',
  pom: join(FOLDER, 'pom.xml'),
  megabytes: 80,
};

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Python with ducktape, in a folder of the cache. */
async function python(): Promise<string> {
  const folder = join(cacheFolder(process.env), 'ducktape-0.12.0');
  const program = join(folder, 'bin', 'python3');
  if (existsSync(join(folder, 'bin', 'ducktape'))) return program;
  progress(`Installing ${PYTHON_PACKAGES.join(', ')} into ${folder}`);
  const options = { environment: process.env };
  await runWithOutput(['python3', '-m', 'venv', '--clear', folder], options, progress);
  await runWithOutput([program, '-m', 'pip', 'install', '--quiet', ...PYTHON_PACKAGES], options, progress);
  return program;
}

async function requireJava(): Promise<Java> {
  const java = await findJava(process.env);
  if (java === undefined) throw new Error('There is no Java 17 or later, which runs the brokers');
  return java;
}

/** The arguments of a JVM for Kafka's classes, one a line. */
async function jvmOf(java: Java): Promise<string> {
  const jars = cachedJars(process.env, KAFKA) ?? (await fetchJars(process.env, undefined, KAFKA, progress));
  const options = { java, classPath: classPath(jars), cacheFolder: cacheFolder(process.env), onProgress: progress };
  const archive = await classArchive(options);
  const sharing = archive === undefined ? [] : [`-XX:SharedArchiveFile=${archive}`];
  return jvmArguments(options.classPath, ['-XX:-UsePerfData', '-XX:TieredStopAtLevel=1', ...sharing]).join('\n');
}

/** The command that gives a run its own network, mounts and process ids; without root it needs user namespaces. */
async function namespaces(): Promise<readonly string[]> {
  const rooted = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const command = [...rooted, '--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const trial = 'ip link add nodes type bridge && ip link add node1 type veth peer name eth0';
  await promisify(execFile)('unshare', [...command, 'sh', '-c', trial]).catch((error: unknown) => {
    throw new Error(`This machine does not allow network namespaces: ${toError(error).message}`, { cause: error });
  });
  return ['unshare', ...command];
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kafka: { type: 'string' },
      parallel: { type: 'string', default: '2' },
      patience: { type: 'string', default: '1' },
      results: { type: 'string', default: '.sluice/kafkatest' },
      parameters: { type: 'string' },
      brief: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const checkout = values.kafka ?? process.env['KAFKA_CHECKOUT'] ?? '';
  if (values.help || checkout === '') {
    progress(values.help ? USAGE : `There is no checkout of apache/kafka: name its folder\n${USAGE}`);
    return values.help ? 0 : 1;
  }
  const tests = resolve(checkout, 'tests');
  if (!existsSync(join(tests, 'kafkatest', 'tests', 'connect'))) {
    throw new Error(`${checkout} is not a checkout of apache/kafka: it has no folder tests/kafkatest/tests/connect`);
  }
  const [unshare, java] = await Promise.all([namespaces(), requireJava()]);
  const interpreter = await python();
  const jvm = values.list ? '' : await jvmOf(java);
  const results = resolve(values.results);
  await mkdir(results, { recursive: true });
  const files = await mkdtemp(join(tmpdir(), 'kafkatest-'));
  try {
    const symbols = positionals.length > 0 ? positionals : ['connect'];
    const ducktape = [
      ['--cluster', 'namespace_cluster.NamespaceCluster', '--results-root', results],
      ['--max-parallel', values.parallel],
      values.parameters === undefined ? [] : ['--parameters', values.parameters],
      values.list ? ['--collect-only'] : [],
      symbols.map((symbol) => join(tests, 'kafkatest', 'tests', symbol)),
    ].flat();
    const javaFolder = java.program === 'java' ? [] : [dirname(java.program)];
    const environment = {
      ...process.env,
      PATH: [join(FOLDER, 'bin'), ...javaFolder, dirname(process.execPath), process.env['PATH']].join(delimiter),
      PYTHONPATH: [FOLDER, tests].join(delimiter),
      PYTHONDONTWRITEBYTECODE: '1',
      // The driver calls the nodes, never a proxy.
      NO_PROXY: '*',
      no_proxy: '*',
      KAFKATEST_SLUICE: packageRoot(),
      KAFKATEST_JVM: jvm,
      KAFKATEST_NODES: String(NODES_OF_A_TEST * Number(values.parallel)),
      KAFKATEST_FILES: files,
      KAFKATEST_PATIENCE: values.patience,
      KAFKATEST_BRIEF: values.brief ? 'true' : '',
      // ducktape's own imports warn of deprecated ciphers.
      PYTHONWARNINGS: 'ignore',
    };
    return await runInNamespaces([...unshare, interpreter, join(FOLDER, 'run.py'), ...ducktape], results, environment);
  } finally {
    await rm(files, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Ctrl-C reaches ducktape too, which lets the current tests finish. */
async function runInNamespaces(
  [command = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] });
  process.on('SIGINT', () => undefined);
  process.once('SIGTERM', () => child.kill('SIGKILL'));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

try {
  process.exitCode = await main();
} catch (error) {
  progress(toError(error).message);
  process.exitCode = 1;
}
