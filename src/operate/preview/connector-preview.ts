import type { ConnectorConfig, PreviewContext, RecordPreview, SinkConnectorPlugin } from '../../connect/api.ts';
import { transformationChain } from '../../connect/pipeline/chain-builder.ts';
import { buildConverters, withDefaultConverters } from '../../connect/pipeline/converter-builder.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { newestRecords } from './newest-records.ts';
import { forDecoding, isForDecoding, type PreviewRequest } from './preview-request.ts';
import { usesStoredSecrets } from './preview-secrets.ts';
import { convertSamples, sampleText, type ConvertedSample } from './preview-records.ts';
import { hiddenInJson } from './hidden-json.ts';
import { sampleRecord } from './sample-messages.ts';
import type { TaskClients } from '../../connect/tasks/task-clients.ts';
import { ConfigError, RequestError, toError } from '../../errors.ts';
import type { ConsumedRecord } from '../../kafka/api.ts';
import { silentLogger } from '../../observe/logger.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import type { StageTracker } from '../../observe/stage.ts';
import type { ConnectorValidation, RawConnectorConfig } from '../../herder/validation.ts';

export interface PreviewDependencies {
  readonly plugins: PluginRegistry;
  readonly validation: Pick<ConnectorValidation, 'requireValidFor'>;
  readonly clients: Pick<TaskClients, 'admin' | 'sinkConsumer'>;
  /** `key.converter` and similar options of the worker, with their sub-keys. */
  readonly converterConfig: ConnectorConfig;
  readonly secrets: SecretMask;
}

/** The topic of messages if neither the request nor the configuration names one. */
const NO_TOPIC = 'preview';
const DEFAULT_COUNT = 10;
const READ_TIMEOUT_MS = 10_000;
/**
 * Time limit of a whole preview. It is shorter than the limits after which the thread of the preview is terminated
 * (85 s) and the request times out (90 s).
 */
const TIMEOUT_MS = 80_000;

/**
 * Previews what a sink would do with messages: converters, transforms, and the plugin's own preview. Nothing is written
 * and nothing is committed.
 */
export class ConnectorPreview {
  readonly #dependencies: PreviewDependencies;

  constructor(dependencies: PreviewDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the answer as JSON text without secrets. Throws a RequestError if the request is invalid. */
  async preview(
    pluginName: string,
    request: PreviewRequest,
    stage: StageTracker,
    abandoned: AbortSignal,
  ): Promise<string> {
    const signal = AbortSignal.any([abandoned, AbortSignal.timeout(TIMEOUT_MS)]);
    const asked = request.decodeOnly === true ? forDecoding(request) : request;
    const work = (): Promise<string> => this.#preview(pluginName, asked, stage, signal);
    return stage.during(`previewing messages for ${pluginName}`, () => unlessAborted(signal, stage, work));
  }

  async #preview(
    pluginName: string,
    request: PreviewRequest,
    stage: StageTracker,
    signal: AbortSignal,
  ): Promise<string> {
    const { validation, plugins, converterConfig, secrets } = this.#dependencies;
    const areStored = await usesStoredSecrets(request, plugins);
    const asked = request.decodeOnly === true ? { counts: isForDecoding, connects: false } : {};
    const checked = await validation.requireValidFor(pluginName, this.#complete(request), stage, asked);
    const { plugin } = checked;
    if (plugin.type !== 'sink') throw new RequestError(400, 'Only sinks have messages to preview');
    const config = withDefaultConverters(checked.config, converterConfig);
    await plugins.prepare(config);
    const converters = buildConverters(config, plugins);
    const chain = transformationChain(config, plugins);
    try {
      const samples = await this.#samples(request, checked.config);
      const converted = await convertSamples(samples, converters, chain, signal);
      const previews =
        request.decodeOnly === true
          ? new Map<ConvertedSample, RecordPreview>()
          : await previewsOf(plugin, checked.config, converted, { signal, usesStoredSecrets: areStored });
      const records = converted.map((sample) => sampleText(sample, previews.get(sample)));
      const text = `{"name":${JSON.stringify(plugin.className)},"records":[${records.join(',')}]}`;
      const passwords = new SecretMask();
      for (const password of checked.passwords) passwords.add(password);
      return hiddenInJson(text, (value) => passwords.hide(secrets.hide(value)));
    } finally {
      chain.close();
      converters.key.close?.();
      converters.value.close?.();
    }
  }

  /** Adds a name and topics to a configuration without them, because a valid sink needs both but a preview does not. */
  #complete({ config, topic }: PreviewRequest): RawConnectorConfig {
    const hasTopics = config['topics'] !== undefined || config['topics.regex'] !== undefined;
    return { name: 'preview', ...(hasTopics ? {} : { topics: topic ?? NO_TOPIC }), ...config };
  }

  async #samples(
    { messages, records, topic, count }: PreviewRequest,
    config: ConnectorConfig,
  ): Promise<readonly ConsumedRecord[]> {
    if (records !== undefined) return records;
    if (messages !== undefined) {
      const [first] = (config['topics'] ?? '').split(',');
      const of = topic ?? (first?.trim() === '' ? NO_TOPIC : (first?.trim() ?? NO_TOPIC));
      return messages.map((message, index) => sampleRecord(message, of, index));
    }
    const { clients } = this.#dependencies;
    const name = config['name'] ?? 'preview';
    const admin = clients.admin(name, config);
    const consumer = await clients.sinkConsumer({ connector: name, task: 0 }, config);
    return newestRecords(topic ?? '', count ?? DEFAULT_COUNT, { admin, consumer }, READ_TIMEOUT_MS);
  }
}

/** If a plugin does not return in time, the preview fails with the current stage. */
async function unlessAborted<T>(signal: AbortSignal, stage: StageTracker, work: () => Promise<T>): Promise<T> {
  const tooLate = (): RequestError => new RequestError(500, `Request timed out. ${stage.describe()}`);
  if (signal.aborted) throw tooLate();
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => {
      reject(tooLate());
    };
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** The previews of samples that passed the transforms, by sample; empty for a plugin without a preview. */
async function previewsOf(
  plugin: SinkConnectorPlugin,
  config: ConnectorConfig,
  converted: readonly ConvertedSample[],
  context: Omit<PreviewContext, 'logger'>,
): Promise<ReadonlyMap<ConvertedSample, RecordPreview>> {
  const left = converted.flatMap((sample) => (sample.record === undefined ? [] : [{ sample, record: sample.record }]));
  if (plugin.preview === undefined || left.length === 0) return new Map();
  try {
    const records = left.map(({ record }) => record);
    const previews = await plugin.preview(config, records, { ...context, logger: silentLogger });
    return new Map(left.map(({ sample }, index) => [sample, previews[index] ?? {}]));
  } catch (error) {
    if (error instanceof ConfigError) throw new RequestError(400, error.message, { cause: error });
    throw new RequestError(500, `${plugin.className} could not preview: ${toError(error).message}`, { cause: error });
  }
}
