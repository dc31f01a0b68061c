import { texts } from '../texts/frame.ts';

export function ConfigHistory() {
  return <p class="empty">{texts.loading}</p>;
}
