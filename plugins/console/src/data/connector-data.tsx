import { texts } from '../texts/frame.ts';

export function ConnectorData() {
  return <p class="empty">{texts.loading}</p>;
}
