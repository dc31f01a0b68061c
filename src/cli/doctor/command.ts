import { loadWorkerConfig, withPrefix, type Properties, type WorkerConfig } from '../../config/worker-config.ts';
import type { ServicePlugin } from '../../connect/api.ts';
import { fail, ok, warn, type Finding } from '../../data/finding.ts';
import { ConfigError } from '../../errors.ts';
import { offersExactlyOnce } from '../../herder/exactly-once-sources.ts';
import { silentLogger } from '../../observe/logger.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import { SLUICE_VERSION } from '../../version.ts';
import { builtInServices } from '../../worker/built-in-plugins.ts';
import { connectorValidation, openPlugins } from '../../worker/plugins.ts';
import { readWorkerProperties, type WorkerProperties } from '../../worker/worker-properties.ts';
import { connectorSection } from './connector-section.ts';
import { converterFindings } from './converter-check.ts';
import { examine, type Section } from './examination.ts';
import { brokerFindings, clientFindings, groupFindings } from './kafka-section.ts';
import { fileLimitFinding, pluginFindings, portFindings } from './machine-section.ts';
import { jsonReport, textReport, worstOf } from './report.ts';
import { learnSecrets } from './secrets.ts';

export interface DoctorOptions {
  readonly file: string | undefined;
  /** Files of connectors. */
  readonly connectors: readonly string[];
  readonly json: boolean;
}

/** The exit codes are listed in docs/doctor.md#exit-code-and-json. */
const EXIT_FAIL = 2;
const LINGER_MS = 1000;

/** Runs all checks, prints the findings, and returns the exit code of `sluice doctor`: 0, or 2 if a check fails. */
export async function runDoctor({ file, connectors, json }: DoctorOptions): Promise<number> {
  const secrets = new SecretMask();
  const sections = await examineAll(file, connectors, secrets);
  const colours = process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '';
  const report = json ? jsonReport(sections, SLUICE_VERSION, secrets) : textReport(sections, secrets, colours);
  process.stdout.write(json ? `${report}\n` : report);
  // Do not wait for examinations that still hang.
  setTimeout(() => process.exit(), LINGER_MS).unref();
  return worstOf(sections) === 'fail' ? EXIT_FAIL : 0;
}

async function examineAll(file: string | undefined, connectors: readonly string[], secrets: SecretMask) {
  const name = file ?? 'environment';
  let read: WorkerProperties;
  let config: WorkerConfig;
  try {
    read = await readWorkerProperties(file, secrets, () => Promise.resolve(silentLogger));
    learnSecrets(read.properties, secrets);
    config = loadWorkerConfig({ mode: modeOf(read.properties), properties: read.properties });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ name, findings: error.message.split('\n').map((message) => fail('configuration', message)) }];
  }
  const warnings = [...read.warnings, ...config.warnings].map((message) => warn('configuration', message));
  const count = `${String(Object.keys(config.properties).length)} properties of a ${config.mode} worker`;
  const own: Section = { name, findings: [ok('configuration', count), ...warnings] };
  return [own, ...(await surroundings(config, connectors, secrets))];
}

/** A file with `offset.storage.file.filename` and without `group.id` is for `sluice standalone`. */
function modeOf(properties: Properties): WorkerConfig['mode'] {
  const standalone = properties['group.id'] === undefined && properties['offset.storage.file.filename'] !== undefined;
  return standalone ? 'standalone' : 'distributed';
}

async function surroundings(
  config: WorkerConfig,
  connectors: readonly string[],
  secrets: SecretMask,
): Promise<Section[]> {
  const { services, unknown } = await openServices(config);
  const { plugins, resolver } = await openPlugins(config, { plugins: [], secrets, logger: silentLogger });
  try {
    const brokers = examine('brokers', () => brokerFindings(config));
    const kafka = brokers.then((findings) => findings.every(({ level }) => level !== 'fail'));
    const cluster = config.mode === 'distributed' ? config : undefined;
    const exactlyOnceGroup = cluster && offersExactlyOnce(cluster) ? cluster.distributed['group.id'] : undefined;
    const settings = {
      workerGroupId: cluster?.distributed['group.id'],
      exactlyOnceSources: exactlyOnceGroup !== undefined,
    };
    const validation = connectorValidation(config, { plugins, resolver }, secrets, settings, silentLogger);
    const parts = { config, plugins, resolver, validation, secrets, kafka, exactlyOnceGroup };
    return await Promise.all([
      section('machine', [
        examine('open files', async () => [fileLimitFinding()]),
        examine('listeners', () => portFindings(config, services)),
        examine('plugin.path', () => pluginFindings(config)),
      ]),
      section(`Kafka at ${config.common['bootstrap.servers'].join(', ')}`, [
        brokers,
        afterwards(kafka, 'clients', () => clientFindings(config)),
        afterwards(kafka, 'internal topics', async () => (cluster === undefined ? [] : groupFindings(cluster))),
      ]),
      section('converters of the worker', [converterFindings(config.converterConfig, plugins)]),
      ...unknown.map((finding) => section('services', [Promise.resolve([finding])])),
      ...services.map((plugin) => section(`service ${plugin.name}`, [serviceFindings(plugin, config)])),
      ...connectors.map((path) => connectorSection(path, parts)),
    ]);
  } finally {
    await resolver.close();
  }
}

async function section(name: string, parts: readonly Promise<readonly Finding[]>[]): Promise<Section> {
  return { name, findings: (await Promise.all(parts)).flat() };
}

/** Runs a check that needs Kafka, or returns nothing if no broker is reachable. */
async function afterwards(
  kafka: Promise<boolean>,
  about: string,
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  return (await kafka) ? examine(about, look) : [];
}

async function openServices(config: WorkerConfig): Promise<{ services: readonly ServicePlugin[]; unknown: Finding[] }> {
  try {
    return { services: await builtInServices(config.own.services), unknown: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { services: [], unknown: [fail('services', error.message)] };
  }
}

function serviceFindings(plugin: ServicePlugin, config: WorkerConfig): Promise<readonly Finding[]> {
  const own = withPrefix(config.properties, plugin.optionPrefix);
  return examine(plugin.name, async (signal) => {
    const context = { signal, logger: silentLogger, writesTo: () => undefined };
    return (await plugin.diagnose?.(own, context)) ?? [];
  });
}
