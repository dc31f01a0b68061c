import { texts } from '../texts/frame.ts';

export function Offsets() {
  return <p class="empty">{texts.loading}</p>;
}
