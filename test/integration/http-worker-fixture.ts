import { join } from 'node:path';
import { broker } from '../support/services.ts';

const CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';

/** Properties of a standalone worker on the shared broker that keeps its offsets in this folder. */
export async function standaloneProperties(
  folder: string,
  more: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  return {
    'bootstrap.servers': (await broker()).bootstrapServers,
    'key.converter': CONVERTER,
    'value.converter': CONVERTER,
    'offset.storage.file.filename': join(folder, 'offsets'),
    listeners: 'http://127.0.0.1:0',
    ...more,
  };
}
