import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ConnectError } from '../../errors.ts';
import { brokerProperties, propertiesText, type BrokerPlace } from './properties.ts';

/** Formats a folder for a new one-node cluster; a formatted folder is not changed. */
export async function formatFolder(
  program: string,
  jvm: readonly string[],
  place: BrokerPlace,
  signal?: AbortSignal,
): Promise<void> {
  if (existsSync(join(place.dataDir, 'meta.properties'))) return;
  const unfinished = `${place.dataDir}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const properties = await writeProperties({ ...place, dataDir: unfinished });
  try {
    const tool = ['kafka.tools.StorageTool', 'format', '--cluster-id', newClusterId(), '--config', properties];
    tool.push(...(place.extras?.formatArguments ?? []));
    const options = { cwd: dirname(unfinished), ...(signal && { signal }) };
    await promisify(execFile)(program, [...jvm, ...tool], options);
    await rename(unfinished, place.dataDir);
  } catch (error) {
    signal?.throwIfAborted();
    throw new ConnectError(`The Kafka data folder ${place.dataDir} could not be formatted`, { cause: error });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
    await rm(properties, { force: true });
  }
}

/** Writes the broker's properties and returns their file. Kafka's programs must run in the folder above the data folder. */
export async function writeProperties(place: BrokerPlace): Promise<string> {
  const file = propertiesFile(place.dataDir);
  await writeFile(file, propertiesText(brokerProperties({ ...place, dataDir: logDirectory(place.dataDir) })));
  return file;
}

/**
 * The value of `log.dirs`. This option is a list without quoting, so a path with a comma is given relative to its
 * parent folder.
 */
function logDirectory(dataDir: string): string {
  if (!dataDir.includes(',')) return dataDir;
  const name = basename(dataDir);
  if (!name.includes(',')) return name;
  throw new ConnectError(`Kafka cannot keep its data in ${dataDir}: the name of that folder must have no comma`);
}

/** The properties file is next to the data folder. */
export function propertiesFile(dataDir: string): string {
  return `${dataDir}.properties`;
}

/**
 * An id in the format of org.apache.kafka.common.Uuid. It has no leading `-`, because the tool would parse it as an
 * option.
 */
function newClusterId(): string {
  const id = randomBytes(16).toString('base64url');
  return id.startsWith('-') ? newClusterId() : id;
}
