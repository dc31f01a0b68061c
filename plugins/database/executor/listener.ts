import { quoteIdentifier } from '../sql/quote.ts';
import type { Listener } from './api.ts';
import type { Pool } from './pool.ts';

/** Subscribes on a dedicated connection. If the server closes it, the subscription ends and `onLost` is called. */
export async function listen(
  pool: Pool,
  channel: string,
  onNotice: (payload: string) => void,
  onLost: () => void,
): Promise<Listener> {
  const connection = await pool.acquire();
  const { client } = connection;
  let isOpen = true;
  const onNotification = (message: { channel: string; payload?: string | undefined }) => {
    if (isOpen && message.channel === channel) onNotice(message.payload ?? '');
  };
  const end = () => {
    if (!isOpen) return false;
    isOpen = false;
    client.off('notification', onNotification);
    client.off('end', onEnd);
    pool.release(connection, 'used');
    return true;
  };
  const onEnd = () => {
    if (end()) onLost();
  };
  client.on('notification', onNotification);
  client.on('end', onEnd);
  try {
    await connection.run({ text: `LISTEN ${quoteIdentifier(channel)}` });
  } catch (error) {
    end();
    throw error;
  }
  return { close: () => void end() };
}
