import { unknownOptions } from '../../config/unknown-options.ts';
import { withPrefix, type WorkerConfig } from '../../config/worker-config.ts';
import type { ConfigResolver } from '../../config/providers/config-resolver.ts';
import type { ConnectorConfig, ConnectorPlugin, DiagnosisContext } from '../../connect/api.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { wantedVersion } from '../../connect/plugins/plugins-of-config.ts';
import { fail, ok, warn, type Finding } from '../../data/finding.ts';
import type { ConnectorValidation } from '../../herder/validation.ts';
import { silentLogger } from '../../observe/logger.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { readConnectorFile, type ConnectorFile } from '../../worker/standalone-connectors.ts';
import { converterFindings } from './converter-check.ts';
import { examine, type Section } from './examination.ts';
import { sinkDemands, sourceDemands } from './connector-topics.ts';
import { learnSecrets } from './secrets.ts';

export interface ConnectorParts {
  readonly config: WorkerConfig;
  readonly plugins: PluginRegistry;
  readonly resolver: ConfigResolver;
  readonly validation: ConnectorValidation;
  readonly secrets: SecretMask;
  /** `group.id` of the worker if `exactly.once.source.support` is `enabled`. */
  readonly exactlyOnceGroup: string | undefined;
  /** Whether a broker answers. */
  readonly kafka: Promise<boolean>;
}

/** Time limit of all examinations of one connector; the systems that it names have limits of their own. */
const LIMIT_MS = 30_000;

/** All findings about the connector in one file. */
export async function connectorSection(path: string, parts: ConnectorParts): Promise<Section> {
  let file: ConnectorFile;
  try {
    file = await readConnectorFile(path);
  } catch (error) {
    return { name: path, findings: [fail('file', error instanceof Error ? error.message : String(error))] };
  }
  learnSecrets(file.config, parts.secrets);
  const name = `connector ${file.name} (${path})`;
  const config = { ...file.config, name: file.name };
  const findings = await examine('configuration', () => configurationFindings(config, parts), LIMIT_MS);
  return { name, findings };
}

/**
 * Prefix of the options whose errors may come from the database. The plugin's diagnosis reports such errors again, with
 * a remedy.
 */
const CHECKED_BY_DATABASE = 'connection.';

async function configurationFindings(given: ConnectorConfig, parts: ConnectorParts): Promise<Finding[]> {
  const { validation, resolver } = parts;
  const { configs } = await validation.validateFor(given['connector.class'] ?? '', given);
  const problems = configs.flatMap(({ value }) => value.errors.map((message) => fail(value.name, message)));
  const names = configs.map(({ value }) => value.name);
  const unknown = unknownOptions(Object.keys(given), names).map(({ key, nearest }) =>
    warn(key, 'there is no such option', `did you mean ${nearest}?`),
  );
  if (problems.some(({ about }) => !about.startsWith(CHECKED_BY_DATABASE))) return [...problems, ...unknown];
  const { config: resolved } = await resolver.resolve(given);
  const plugin = await pluginOf(resolved, parts.plugins);
  const topics: string[] = [];
  const noteTopics = (names: readonly string[]) => topics.push(...names);
  const ofSystem = await examine('connector', (signal) =>
    diagnosis(plugin, resolved, { signal, writesTo: noteTopics }),
  );
  const known = ofSystem.some(({ level }) => level === 'fail') ? [] : problems;
  const valid = problems.length === 0 ? [ok('configuration', `is valid for ${plugin.className}`)] : known;
  const [ofConverters, ofTopics] = await Promise.all([
    converterFindings(resolved, parts.plugins),
    kafkaFindings(plugin, resolved, topics, parts),
  ]);
  return [...valid, ...unknown, ...ofSystem, ...ofConverters, ...ofTopics];
}

async function pluginOf(config: ConnectorConfig, plugins: PluginRegistry): Promise<ConnectorPlugin> {
  const wanted = wantedVersion(config, 'connector.plugin.version');
  return plugins.load(plugins.find('connector', config['connector.class'] ?? '', wanted));
}

async function diagnosis(
  plugin: ConnectorPlugin,
  config: ConnectorConfig,
  context: Omit<DiagnosisContext, 'logger'>,
): Promise<readonly Finding[]> {
  return (await plugin.diagnose?.(config, { ...context, logger: silentLogger })) ?? [];
}

async function kafkaFindings(
  plugin: ConnectorPlugin,
  config: ConnectorConfig,
  written: readonly string[],
  { config: worker, exactlyOnceGroup, kafka }: ConnectorParts,
): Promise<readonly Finding[]> {
  if (!(await kafka)) return [];
  const overrides = (kind: 'consumer' | 'producer' | 'admin') => ({
    ...worker.clients[kind],
    ...withPrefix(config, `${kind}.override.`),
  });
  const clients = { consumer: overrides('consumer'), producer: overrides('producer'), admin: overrides('admin') };
  // With transforms, the topics are unknown, because a transform may change the topic of a record.
  const topics = (config['transforms'] ?? '').trim() === '' ? written : [];
  return examine('topics', () =>
    plugin.type === 'sink'
      ? sinkDemands(config, clients)
      : sourceDemands(config, clients, topics, {
          createsTopics: worker.common['topic.creation.enable'],
          exactlyOnceGroup,
        }),
  );
}
