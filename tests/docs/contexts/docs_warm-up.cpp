// SPDX-License-Identifier: Apache-2.0
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/site.hpp>
#include <txsync/speculate/warming.hpp>

struct node {
  int key = 0;
  node* next = nullptr;
  int value = 0;
};
node* head = nullptr;

//@ #include <txsync/locks/ticket.hpp>

void change(int key, int value) {
  //@ lock.section([&](auto& memory) {                               // written once, compiled for both uses
}

//@ constinit txsync::site_with_policy hot{"hot", txsync::warm_up_presets::eager};  // every wait warms up, without trials

void insert(int key) {
  //@ lock.section([&]<class Memory>(Memory& memory) {
}
