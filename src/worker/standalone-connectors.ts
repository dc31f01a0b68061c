import { readFile } from 'node:fs/promises';
import { decode, parseProperties } from '../config/properties-file.ts';
import { ConfigError, toError } from '../errors.ts';
import type { TargetState } from '../connect/task-assignment.ts';
import type { OffsetChange } from '../herder/offset-requests.ts';
import type { Logger } from '../observe/logger.ts';
import { initialOffsetsOfFile } from '../rest/offsets-body.ts';
import type { Worker } from './worker.ts';

/** A connector, as specified in its file. */
export interface ConnectorFile {
  readonly name: string;
  readonly config: Record<string, string>;
  readonly initialState: TargetState | undefined;
  readonly initialOffsets: readonly OffsetChange[] | undefined;
}

/** Creates the connectors of a standalone worker's command line, in order. If one is invalid, the start fails. */
export async function createConnectors(worker: Worker, paths: readonly string[], logger: Logger): Promise<void> {
  for (const path of paths) {
    try {
      const { name, config, initialState, initialOffsets } = await readConnectorFile(path);
      const valid = await worker.validation.requireValid({ ...config, name });
      const before =
        initialOffsets && (() => initialiseOffsets(worker.offsets, { name, config: valid }, initialOffsets, logger));
      await worker.herder.requests.putConnector(name, valid, { replace: false, initialState, before });
    } catch (error) {
      throw new ConfigError(`${path}: ${toError(error).message}`, { cause: error });
    }
  }
}

/**
 * Sets the initial offsets of a connector. The worker creates its connectors at each start, so a connector that has offsets
 * from an earlier start resumes there instead.
 */
async function initialiseOffsets(
  offsets: Worker['offsets'],
  { name, config }: Pick<ConnectorFile, 'name' | 'config'>,
  initial: readonly OffsetChange[],
  logger: Logger,
): Promise<void> {
  if (await offsets.hasNone(name, config)) await offsets.begin(name, config, initial);
  else logger.info(`Connector ${name} already has offsets and continues from these; initial_offsets are ignored`);
}

/**
 * Reads a connector file: a flat JSON map with `name`, a JSON object `{name, config, initial_state, initial_offsets}`, or
 * `.properties` (docs/worker.md#worker-files).
 */
export async function readConnectorFile(path: string): Promise<ConnectorFile> {
  const text = decode(await readFile(path));
  const nested = text.trimStart().startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  if (typeof nested['config'] === 'object' && nested['config'] !== null) {
    const config = parseProperties(JSON.stringify(nested['config']));
    const name = typeof nested['name'] === 'string' ? nested['name'] : (config['name'] ?? '');
    if (config['name'] !== undefined && config['name'] !== name) {
      throw new ConfigError(`config.name ${config['name']} differs from name ${name}`);
    }
    return {
      name,
      config,
      initialState: initialState(nested['initial_state']),
      initialOffsets: initialOffsetsOfFile(text),
    };
  }
  const config = parseProperties(text);
  return { name: config['name'] ?? '', config, initialState: undefined, initialOffsets: undefined };
}

function initialState(value: unknown): TargetState | undefined {
  if (value === undefined || value === null) return undefined;
  const state = typeof value === 'string' ? value.toUpperCase() : '';
  if (state === 'RUNNING') return 'STARTED';
  if (state === 'PAUSED' || state === 'STOPPED') return state;
  throw new ConfigError(`initial_state ${JSON.stringify(value)} is not one of RUNNING, PAUSED, STOPPED`);
}
