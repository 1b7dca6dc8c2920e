/*
 * The floor: what receiving and sending alone costs. Echoes every datagram with its QR bit set; 64 in one system call.
 * Nothing is parsed, found or written.  cc -O2 -o echo echo.c && ./echo PORT ADDRESS
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BATCH 64
#define ROOM 2048

static unsigned char buffers[BATCH][ROOM];
static struct sockaddr_in peers[BATCH];
static struct iovec pieces[BATCH];
static struct mmsghdr messages[BATCH];

int main(int count, char **words) {
  int wanted = 1 << 22, on = 1;
  int socket_ = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in here = {.sin_family = AF_INET};
  if (count != 3 || inet_pton(AF_INET, words[2], &here.sin_addr) != 1) return 2;
  here.sin_port = htons((unsigned short)atoi(words[1]));
  setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
  setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (bind(socket_, (struct sockaddr *)&here, sizeof here) != 0) {
    perror("bind");
    return 1;
  }
  for (int i = 0; i < BATCH; i++) {
    pieces[i].iov_base = buffers[i];
    messages[i].msg_hdr.msg_name = &peers[i];
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  for (;;) {
    for (int i = 0; i < BATCH; i++) {
      messages[i].msg_hdr.msg_namelen = sizeof peers[i];
      pieces[i].iov_len = ROOM;
    }
    int received = recvmmsg(socket_, messages, BATCH, MSG_WAITFORONE, NULL);
    if (received < 0) {
      if (errno == EINTR) continue;
      perror("recvmmsg");
      return 1;
    }
    for (int i = 0; i < received; i++) {
      pieces[i].iov_len = messages[i].msg_len;
      if (messages[i].msg_len > 2) buffers[i][2] |= 0x80;
    }
    for (int sent = 0; sent < received;) {
      int n = sendmmsg(socket_, messages + sent, (unsigned)(received - sent), 0);
      if (n < 0 && errno == EINTR) continue;
      sent += n > 0 ? n : 1; /* a message that cannot be sent is skipped alone */
    }
  }
}
