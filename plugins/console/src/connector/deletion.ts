import type { ConnectorChangeAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { notify } from '../common/notices.ts';
import { connectorAddress, fleetAddress } from '../common/addresses.ts';
import { texts } from '../texts/connector.ts';

/** Deletes a connector and opens the list of connectors. A notice offers to undo the deletion by restoring the connector from its history. */
export async function deleteConnector(name: string): Promise<void> {
  await request('DELETE', connectorPath(name));
  location.hash = fleetAddress();
  notify({ text: texts.deleted(name), action: { title: texts.undo, run: () => undelete(name) } });
  await refresh().catch(() => undefined);
}

async function undelete(name: string): Promise<void> {
  try {
    const changes = await request<readonly ConnectorChangeAnswer[]>('GET', `${connectorPath(name)}/history`);
    const newest = changes[0]?.n;
    const kept = changes.find(({ what }) => what !== 'deleted')?.n;
    if (newest === undefined || kept === undefined) throw new Error(texts.noHistoryToUndo);
    await request('POST', `/ui${connectorPath(name)}/changes/${String(kept)}/restore?newest=${String(newest)}`);
    await refresh().catch(() => undefined);
    notify({ text: texts.undeleted(name) });
    location.hash = connectorAddress(name);
  } catch (error) {
    notify({ text: texts.notUndeleted(name, (error as Error).message) });
  }
}
