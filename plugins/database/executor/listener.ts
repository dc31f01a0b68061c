import { quoteIdentifier } from '../sql/quote.ts';
import type { Listener } from './api.ts';
import type { Pool } from './pool.ts';

/**
 * Takes a connection and listens on it. `onLost` is called once when the server ends it; what was notified since is lost then.
 */
export async function listen(
  pool: Pool,
  channel: string,
  onNotice: (payload: string) => void,
  onLost: () => void,
): Promise<Listener> {
  const connection = await pool.acquire();
  const { client } = connection;
  let isOpen = true;
  const heard = (message: { channel: string; payload?: string | undefined }) => {
    if (isOpen && message.channel === channel) onNotice(message.payload ?? '');
  };
  const end = () => {
    if (!isOpen) return false;
    isOpen = false;
    client.off('notification', heard);
    client.off('end', lost);
    pool.release(connection, 'used');
    return true;
  };
  const lost = () => {
    if (end()) onLost();
  };
  client.on('notification', heard);
  client.on('end', lost);
  try {
    await connection.run({ text: `LISTEN ${quoteIdentifier(channel)}` });
  } catch (error) {
    end();
    throw error;
  }
  return { close: () => void end() };
}
