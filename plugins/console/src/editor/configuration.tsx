import { texts } from '../texts/frame.ts';

export function Configuration() {
  return <p class="empty">{texts.loading}</p>;
}
